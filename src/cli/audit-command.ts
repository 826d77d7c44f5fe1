import { AuditLedger } from "../audit/audit-ledger.ts";
import type { FileFindings } from "../audit/file-check.ts";
import { judge } from "../audit/verdict.ts";
import { UsageError } from "../base/errors.ts";
import { checkLines } from "../insight/audit/check-lines.ts";
import { linesOf, linesOfFile, type RawLine } from "../insight/audit/read-lines.ts";
import { NotFound } from "../kube/errors.ts";
import { verdictText } from "./audit/verdict-text.ts";
import type { Command, ExitCode, Flags, World } from "./command.ts";
import { readChoice, readInstant } from "./flag-values.ts";
import { ensureReadable } from "./input-file.ts";
import { type ClusterCall, clusterOptions, withCluster } from "./open-cluster.ts";
import { outputOption } from "./output-option.ts";
import { createPaint } from "./print/paint.ts";

export const auditCommand: Command = {
  name: "audit",
  summary: "Verify an audit log: whether any line was changed, or is missing, in another place or cut off.",
  failsWhen: "Anything is not as it was written.",
  description:
    "Reads the operator's own key and anchors from the cluster, and the log from files, of which logrotate may have made\nseveral, also compressed ones, in any order; - is stdin. It ends with 1 when anything is not as it was written.",
  words: { usage: "verify FILE...", max: 10_000, first: ["verify"] },
  options: [
    {
      name: "namespace",
      short: "n",
      value: "NAME",
      description: "Where the operator keeps its key and anchors.",
      default: "keyturn-system",
    },
    { name: "since", value: "DATE", description: "Lines from before need not be there any more." },
    { name: "instance", value: "NAME", description: "Only what this process wrote is expected; a pod, mostly." },
    { name: "mixed", description: "Lines of others may stand between: the output of kubectl logs." },
    outputOption("text", "json"),
    ...clusterOptions,
  ],
  examples: [
    { command: "keyturn audit verify /var/log/keyturn/audit.log*", what: "A file, and what logrotate made of it" },
    {
      command: "kubectl logs -n keyturn-system keyturn-0 | keyturn audit verify --mixed --instance keyturn-0 -",
      what: "What one pod wrote to stdout",
    },
  ],
  run: async (flags, world) => {
    await ensureReadable(readCall(flags).paths);
    return withCluster(flags, world, runAudit);
  },
};

interface AuditCall {
  readonly paths: readonly string[];
  readonly sinceAt: number;
  readonly format: "text" | "json";
}

function readCall(flags: Flags): AuditCall {
  const [what, ...paths] = flags.words;
  if (what !== "verify") throw new UsageError("what of it? keyturn audit verify FILE...");
  if (paths.length === 0) throw new UsageError("give the files of the log: keyturn audit verify FILE...");
  const twice = paths.find((path, index) => paths.indexOf(path) !== index);
  if (twice !== undefined) throw new UsageError(`"${twice}" is given twice`);
  const format = readChoice(flags, "output", ["text", "json"]);
  return { paths, sinceAt: readInstant(flags, "since") ?? -Infinity, format };
}

export async function runAudit({ kube, flags, world }: ClusterCall): Promise<ExitCode> {
  const { paths, sinceAt, format } = readCall(flags);
  const namespace = flags.text("namespace") ?? "";
  const ledger = await AuditLedger.find({ kube, namespace }).catch((error: unknown) => {
    if (!(error instanceof NotFound)) throw error;
    const hint = "-n says where the operator keeps it";
    throw new UsageError(`there is no key of an audit log in namespace ${namespace} (${hint})`, error);
  });
  // Read first: what is written meanwhile is after its anchor then, and not cut off.
  const anchors = await ledger.read();
  const files: FileFindings[] = [];
  for (const file of paths) {
    const lines = file === "-" ? fromStdin(world) : linesOfFile(file);
    files.push(await checkLines({ file, lines, key: ledger.key, isMixed: flags.isOn("mixed") }));
  }
  const verdict = judge({ files, anchors, sinceAt, instance: flags.text("instance") });
  world.stdout.write(
    format === "json" ? `${JSON.stringify(verdict, null, 2)}\n` : verdictText(verdict, createPaint(world)),
  );
  return verdict.isSound ? 0 : 1;
}

async function* fromStdin({ stdin }: World): AsyncIterable<RawLine> {
  const text = Buffer.from(await stdin.readAll());
  yield* linesOf(
    (async function* () {
      yield text;
    })(),
  );
}
