import { KeyturnError, UsageError } from "../base/errors.ts";
import type { Command, ExitCode, Flags } from "./command.ts";
import { readChoice, readDuration, readNamespace } from "./flag-values.ts";
import { type ClusterCall, clusterOptions, withCluster } from "./open-cluster.ts";
import { outputOption } from "./output-option.ts";
import { SYSTEM_NAMESPACE } from "./own-namespace.ts";
import { createPaint } from "./print/paint.ts";
import { isConfirmed, yesOption } from "./resources/confirm.ts";
import { lookAround } from "./uninstall/look-around.ts";
import { hintsOn, objectionsTo } from "./uninstall/objections.ts";
import { isDone, type Report, type Result, reportJson, resultOf } from "./uninstall/report.ts";
import { sharesOf } from "./uninstall/shares.ts";
import { takeAway } from "./uninstall/take-away.ts";
import { planText, resultText } from "./uninstall/uninstall-text.ts";
import type { Wish } from "./uninstall/wish.ts";

const FORMATS = ["text", "json"] as const;
const FATES = ["keep", "delete"] as const;
const INTERRUPTED_CODE = 130;

export const uninstallCommand: Command = {
  name: "uninstall",
  summary: "Take the operator away, and leave no finalizer behind; says before what goes and what stays.",
  description: `With --keys keep everything that was published goes on working: Secrets, keys outside, name servers; resources stay, and
another installation takes them up as they are. With --keys delete the resources are deleted while the operator still
runs, which deletes their keys outside, and only then does it go. No workload is restarted in either case. What Helm has
installed, helm uninstall takes away afterwards. What an interrupted call has left to do, the next one does.`,
  options: [
    {
      name: "keys",
      value: "FATE",
      description: "keep or delete: resources, their Secrets, and their keys outside.",
      default: "keep",
      choices: FATES,
    },
    {
      name: "crds",
      value: "FATE",
      description: "keep or delete: the definitions. To keep keys they are needed.",
      default: "keep",
      choices: FATES,
    },
    {
      name: "namespace",
      short: "n",
      value: "NAME",
      description: "Where the operator is installed.",
      default: SYSTEM_NAMESPACE,
    },
    yesOption,
    { name: "dry-run", description: "Only say what would become of everything." },
    {
      name: "abandon",
      description: "Go on although resources are being deleted whose keys are still there outside: those stay there.",
    },
    {
      name: "timeout",
      value: "DURATION",
      description: "How long each step is waited for: resources to go, the operator to end.",
      default: "10m",
    },
    outputOption(...FORMATS),
    ...clusterOptions,
  ],
  examples: [
    { command: "keyturn uninstall --dry-run", what: "What would go, and what would stay" },
    { command: "keyturn uninstall --yes", what: "Leave every key where it is" },
    { command: "keyturn uninstall --keys delete --crds delete --yes", what: "Leave nothing" },
  ],
  run: (flags, world) => {
    // A mistake is said before a cluster is asked for.
    readWishes(flags);
    return withCluster(flags, world, runUninstall);
  },
};

interface Wishes {
  readonly wish: Wish;
  readonly namespace: string;
  readonly format: (typeof FORMATS)[number];
  readonly timeoutMs: number;
  readonly isDryRun: boolean;
}

function readWishes(flags: Flags): Wishes {
  const isDryRun = flags.isOn("dry-run");
  if (isDryRun && flags.isOn("yes"))
    throw new UsageError("--dry-run does nothing, and --yes does it: give one of them");
  return {
    wish: {
      keys: readChoice(flags, "keys", FATES),
      definitions: readChoice(flags, "crds", FATES),
      isAbandoning: flags.isOn("abandon"),
    },
    namespace: readNamespace(flags),
    format: readChoice(flags, "output", FORMATS),
    timeoutMs: readDuration(flags, "timeout"),
    isDryRun,
  };
}

export async function runUninstall(call: ClusterCall): Promise<ExitCode> {
  const wishes = readWishes(call.flags);
  const { wish, namespace, isDryRun } = wishes;
  const { kube, world } = call;
  const before = await lookAround({ kube, clock: world.clock, namespace });
  const planned: Report = {
    ...{ namespace, wish },
    shares: sharesOf(before, wish),
    refusals: objectionsTo(before, wish),
    hints: hintsOn(before, wish),
  };
  const isAsked = !isDryRun && planned.refusals.length === 0;
  if (wishes.format === "text" || !isAsked || !call.flags.isOn("yes")) showPlan(call, wishes, planned);
  if (planned.refusals.length > 0) return 1;
  if (isDryRun || !(await isWanted(call, wishes))) return 0;
  const stopped = new AbortController();
  world.onStop(() => stopped.abort());
  const result = await carryOut(call, wishes, { planned, signal: stopped.signal });
  showResult(call, wishes, { ...planned, result });
  if (isDone(result)) return 0;
  return stopped.signal.aborted ? INTERRUPTED_CODE : 1;
}

/** At a terminal there is somebody to ask. */
async function isWanted({ flags, world }: ClusterCall, { format }: Wishes): Promise<boolean> {
  if (!flags.isOn("yes") && (!world.stdin.isTerminal || format === "json")) {
    throw new UsageError("nothing was done: give --yes to have it done, or --dry-run to only look");
  }
  return isConfirmed("Do this?", flags, world);
}

async function carryOut(
  { kube, world }: ClusterCall,
  { wish, namespace, timeoutMs, format }: Wishes,
  { planned, signal }: { readonly planned: Report; readonly signal: AbortSignal },
): Promise<Result> {
  const { clock, stdout } = world;
  const tell = (line: string): void => {
    if (format === "text") stdout.write(`${line}\n`);
  };
  let problem: string | undefined;
  try {
    await takeAway({ kube, clock, namespace, wish, timeoutMs, signal, tell });
  } catch (error) {
    if (!(error instanceof KeyturnError)) throw error;
    problem = error.message;
  }
  const result = resultOf(planned.shares, await lookAround({ kube, clock, namespace }), wish);
  return problem === undefined ? result : { ...result, problem };
}

function showPlan({ world }: ClusterCall, { format }: Wishes, report: Report): void {
  world.stdout.write(format === "json" ? jsonText(report) : planText(report, textOptions(world)));
}

function showResult({ world }: ClusterCall, { format }: Wishes, report: Report): void {
  const { result } = report;
  if (!result) return;
  world.stdout.write(format === "json" ? jsonText(report) : resultText(result, textOptions(world)));
  if (result.problem !== undefined) world.stderr.write(`keyturn: ${result.problem}\n`);
}

const jsonText = (report: Report): string => `${JSON.stringify(reportJson(report), null, 2)}\n`;

const textOptions = (world: ClusterCall["world"]) => ({
  paint: createPaint(world),
  width: world.stdout.columns ?? Number.POSITIVE_INFINITY,
});
