import { type Command, EXIT_CODES, type OptionSpec } from "./command.ts";
import { commonOptions } from "./parse-flags.ts";

/** The pages behind `--help`. */
export function overview(commands: readonly Command[], version: string): string {
  const width = Math.max(...commands.map((command) => command.name.length));
  const rows = commands.map((command) => `  ${command.name.padEnd(width)}  ${summaryOf(command)}`);
  return [
    `Keyturn ${version} rotates the credentials that workloads on Kubernetes live on.`,
    "",
    "Usage:",
    "  keyturn COMMAND [FLAGS]",
    "",
    "Commands:",
    ...rows,
    "",
    "To try it without a cluster:  keyturn up",
    "On a cluster:                 keyturn manifests --image IMAGE | kubectl apply --server-side -f -",
    "More about one command:       keyturn COMMAND --help",
    "",
  ].join("\n");
}

export function page(command: Command): string {
  const specs = [...command.options, ...commonOptions];
  const left = specs.map(leftColumn);
  const width = Math.max(...left.map((text) => text.length));
  const rows = specs.map((spec, index) => `  ${(left[index] ?? "").padEnd(width)}  ${rightColumn(spec)}`);
  const examples = (command.examples ?? []).flatMap(({ command: line, what }) => [`  # ${what}`, `  ${line}`, ""]);
  return [
    summaryOf(command),
    "",
    ...(command.description ? [command.description, ""] : []),
    "Usage:",
    `  keyturn ${[command.name, command.words?.usage ?? "", "[FLAGS]"].filter((word) => word !== "").join(" ")}`,
    "",
    "Flags:",
    ...rows,
    "",
    ...(command.failsWhen === undefined ? [] : [`Ends with ${EXIT_CODES.failed}: ${command.failsWhen}`, ""]),
    ...(examples.length > 0 ? ["Examples:", ...examples] : []),
  ].join("\n");
}

const summaryOf = ({ summary, aliases = [] }: Command): string =>
  aliases.length === 0 ? summary : `${summary} Also called ${aliases.join(", ")}.`;

function leftColumn(spec: OptionSpec): string {
  const name = spec.isOnByDefault ? `--no-${spec.name}` : `--${spec.name}`;
  return `${spec.short ? `-${spec.short}, ` : "    "}${name}${spec.value ? ` ${spec.value}` : ""}`;
}

const rightColumn = (spec: OptionSpec): string =>
  spec.default === undefined ? spec.description : `${spec.description} (default: ${spec.default})`;
