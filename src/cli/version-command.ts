import { messageOf } from "../base/errors.ts";
import { recordOf } from "../kube/record.ts";
import type { Command, ExitCode, Flags, World } from "./command.ts";
import { readChoice } from "./flag-values.ts";
import { clusterOptions, openCluster } from "./open-cluster.ts";
import { outputOption } from "./output-option.ts";

const FORMATS = ["text", "json"] as const;

export const versionCommand: Command = {
  name: "version",
  summary: "Print the version; with --server that of the API server as well.",
  failsWhen: "With --server: it did not answer.",
  options: [
    outputOption(...FORMATS),
    { name: "server", description: "Ask the API server for its version, too." },
    ...clusterOptions,
  ],
  examples: [
    { command: "keyturn version -o json", what: "For a program" },
    { command: "keyturn version --server", what: "With the version of the cluster" },
  ],
  run: runVersion,
};

interface Versions {
  readonly version: string;
  readonly node: string;
  readonly server?: string;
}

/** A server that does not answer keeps nobody from hearing the rest. */
async function runVersion(flags: Flags, world: World): Promise<ExitCode> {
  const format = readChoice(flags, "output", FORMATS);
  const own: Versions = { version: world.version, node: world.nodeVersion };
  let versions = own;
  let problem: string | undefined;
  if (flags.isOn("server")) {
    try {
      versions = { ...own, server: await serverVersion(flags, world) };
    } catch (error) {
      problem = messageOf(error);
    }
  }
  world.stdout.write(format === "json" ? `${JSON.stringify(versions)}\n` : text(versions));
  if (problem === undefined) return 0;
  world.stderr.write(`keyturn: ${problem}\n`);
  return 1;
}

const text = ({ version, node, server }: Versions): string =>
  [`keyturn ${version}`, `node ${node}`, ...(server === undefined ? [] : [`server ${server}`]), ""].join("\n");

async function serverVersion(flags: Flags, world: World): Promise<string> {
  const { kube } = await openCluster(flags, world);
  try {
    return String(recordOf(await kube.fetch("/version")).gitVersion);
  } finally {
    await kube.close();
  }
}
