import type { HttpPort } from "../providers/http-port.ts";
import { UndiciHttp } from "../providers/undici-http.ts";
import { type Command, EXIT_CODES, type ExitCode } from "./command.ts";
import { Bench } from "./import/bench.ts";
import { outcomeText, stepWords, summary } from "./import/import-text.ts";
import { bringAbout, foresee, type Outcome } from "./import/outcome.ts";
import { type CommandWish, readWish, SOURCE_NAMES } from "./import/read-wish.ts";
import { runReloader } from "./import/reloader/run-reloader.ts";
import type { ImportSource, ImportWish } from "./import/source.ts";
import type { Candidate } from "./import/work-through.ts";
import { type ClusterCall, clusterOptions, withCluster } from "./open-cluster.ts";
import { outputOption } from "./output-option.ts";
import { createPaint } from "./print/paint.ts";
import { allNamespacesOption } from "./resources/target-options.ts";

const MAX_NAMES = 1000;
const RECHECK_MS = 15_000;

export const importCommand: Command = {
  name: "import",
  aliases: ["migrate"],
  summary: "Take over what another operator looks after, without a new key and without a restart.",
  failsWhen: "Something was refused or failed; it can be called again.",
  isInterruptible: true,
  description: `SOURCE is one of ${SOURCE_NAMES.join(", ")}.
Nothing is written unless --yes is given: the plan is shown, step by step, and what speaks against it. Stop the other
operator first; as long as it runs, all is refused, and how to stop it is said. No key outside is made or deleted. What
an interrupted call has left to do, the next one does. For reloader there is nothing to take over: it reports, workload
by workload, what its annotations mean here.`,
  words: { usage: "SOURCE (NAME... | --all)", max: MAX_NAMES + 1, first: SOURCE_NAMES },
  options: [
    { name: "all", description: "Instead of names: everything there is of this source." },
    { name: "yes", short: "y", description: "Do it, not only show it." },
    {
      name: "accept-changes",
      description: "Go on where a Secret would lose a key, or have it in another form, from the next rotation on.",
    },
    {
      name: "provider-config",
      value: "NAME",
      description: "For sap-btp-operator: the ProviderConfig that leads to the Service Manager.",
      default: "default",
    },
    {
      name: "lease-namespace",
      value: "NAME",
      description: "Where the operator keeps what is its own. Default: keyturn-system.",
    },
    outputOption("text", "json"),
    {
      name: "namespace",
      short: "n",
      value: "NAME",
      description: "Namespace; for kinds that have none, that of their Secret. Default: that of the context, or all.",
    },
    allNamespacesOption,
    ...clusterOptions,
  ],
  examples: [
    { command: "keyturn import crossplane-btp --all", what: "What would be done" },
    { command: "keyturn import crossplane-btp orders --yes", what: "One binding" },
    { command: "keyturn import sap-btp-operator --all -n shop --provider-config prod --yes", what: "A namespace" },
    { command: "keyturn import reloader -A", what: "What would change for workloads that Reloader restarts" },
  ],
  run: async (flags, world) => {
    // A mistake is said before a cluster is asked for.
    readWish(flags);
    return withCluster(flags, world, (call) => runImport(call));
  },
};

/** `http`: another way to external systems than the usual one. */
export async function runImport(call: ClusterCall, http?: HttpPort): Promise<ExitCode> {
  const wish = readWish(call.flags);
  const { source } = wish;
  if (!source) {
    return runReloader(call, wish.isEverywhere ? undefined : (wish.namespace ?? call.namespace), wish.format);
  }
  const { kube, world } = call;
  let isStopped = false;
  world.onStop(() => {
    isStopped = true;
  });
  const own = new UndiciHttp();
  const { clock, random } = world;
  const bench = new Bench({
    ...{ kube, clock, random, http: http ?? own, ownNamespace: wish.ownNamespace },
    signal: new AbortController().signal,
    isStopped: () => isStopped,
  });
  try {
    return await importAll(call, { source, wish, bench });
  } finally {
    await own.close();
  }
}

interface Work {
  readonly source: ImportSource;
  readonly wish: CommandWish;
  readonly bench: Bench;
}

async function importAll(call: ClusterCall, work: Work): Promise<ExitCode> {
  const { source, wish, bench } = work;
  const candidates = await source.find(bench, wishOf(call, work));
  const preparation: Candidate = { title: "Before anything else", look: () => source.prepare(bench) };
  const prepared = await treat(call, work, preparation);
  const isHindered = prepared.state === "refused" || prepared.state === "failed";
  tell(call, wish, prepared);
  const outcomes: Outcome[] = [];
  // What stands in the way of all is said once, and what would be done is shown nevertheless.
  let checkedAt = bench.now();
  for (const candidate of isHindered && wish.isApplied ? [] : candidates) {
    if (bench.parts.isStopped()) break;
    if (wish.isApplied && bench.now() - checkedAt > RECHECK_MS) {
      // Somebody may have started the other operator meanwhile.
      const again = await foresee(preparation);
      if (again.state === "refused" || again.state === "failed") {
        tell(call, wish, again);
        outcomes.push(again);
        break;
      }
      checkedAt = bench.now();
    }
    const outcome = await treat(call, work, candidate);
    tell(call, wish, outcome);
    outcomes.push(outcome);
  }
  conclude(call, work, { prepared, outcomes });
  if (bench.parts.isStopped()) return EXIT_CODES.interrupted;
  return isHindered || outcomes.some(({ state }) => state === "refused" || state === "failed") ? 1 : 0;
}

function wishOf({ namespace }: ClusterCall, { wish, source }: Work): ImportWish {
  const { names, acceptChanges, providerConfig } = wish;
  const usual = source.isNamespaced ? namespace : undefined;
  const within = wish.isEverywhere ? undefined : (wish.namespace ?? usual);
  return { names, acceptChanges, providerConfig, namespace: within };
}

function treat({ world }: ClusterCall, { wish, bench }: Work, candidate: Candidate): Promise<Outcome> {
  if (!wish.isApplied) return foresee(candidate);
  const isTold = wish.format === "text";
  return bringAbout(candidate, bench, (step) => {
    if (isTold) world.stdout.write(`${candidate.title}: ${stepWords(step)}\n`);
  });
}

/** While it is done, each step was told when it was done. */
function tell({ world }: ClusterCall, { format, isApplied }: CommandWish, outcome: Outcome): void {
  if (format === "json") return;
  const isSilent = outcome.steps.length === 0 && outcome.refusals.length === 0 && outcome.state !== "failed";
  if (outcome.title === "Before anything else" && isSilent) return;
  const width = world.stdout.columns ?? Number.POSITIVE_INFINITY;
  const shown = isApplied ? { ...outcome, steps: [] } : outcome;
  if (isApplied && outcome.state === "imported" && outcome.hints.length === 0) return;
  world.stdout.write(`${outcomeText(shown, { paint: createPaint(world), width })}\n`);
}

function conclude(
  { world }: ClusterCall,
  { wish, source }: Work,
  { prepared, outcomes }: { readonly prepared: Outcome; readonly outcomes: readonly Outcome[] },
): void {
  if (wish.format === "json") {
    const told = {
      source: source.name,
      isApplied: wish.isApplied,
      preparation: jsonOf(prepared),
      items: outcomes.map(jsonOf),
    };
    world.stdout.write(`${JSON.stringify({ ...told, afterwards: source.afterwards }, null, 2)}\n`);
    return;
  }
  world.stdout.write(`${summary(outcomes, wish.isApplied)}\n`);
  if (wish.isApplied && outcomes.some(({ state }) => state === "imported")) {
    for (const line of source.afterwards) world.stdout.write(`${line}\n`);
  }
}

const jsonOf = ({ title, state, steps, refusals, hints, problem }: Outcome) => ({
  ...{ name: title, state, steps: steps.map(({ does, why }) => ({ does, why })), refusals, hints },
  ...(problem !== undefined && { problem }),
});
