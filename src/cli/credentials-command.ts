import { cfServiceInstance } from "../api/korifi/cf-service-instance.ts";
import { type Command, EXIT_CODES, type ExitCode } from "./command.ts";
import { CredentialsWait, type WaitResult } from "./credentials/credentials-wait.ts";
import { titleOf } from "./credentials/look-at-bindings.ts";
import { type CredentialsWish, readWish } from "./credentials/read-wish.ts";
import { setCredentials } from "./credentials/set-credentials.ts";
import type { SetStep } from "./credentials/set-plan.ts";
import { type ClusterCall, clusterOptions, withCluster } from "./open-cluster.ts";
import { outputOption } from "./output-option.ts";

export const credentialsCommand: Command = {
  name: "credentials",
  summary: "Give a user-provided service instance other credentials, and see its bindings take them up.",
  failsWhen: "The credentials were refused, or not taken up in time.",
  isInterruptible: true,
  description:
    "The file is one JSON object; its values are published as they are written, and never shown. An instance that names a\nlegacy Secret is pointed at its migrated one first. What an interrupted call has left to do, the next one does.",
  words: { usage: "set INSTANCE", max: 2, first: ["set"] },
  options: [
    { name: "filename", short: "f", value: "FILE", description: "The credentials, as JSON; - reads from a pipe." },
    {
      name: "wait",
      isOnByDefault: true,
      description: "End at once, not when the instance and its bindings have taken them up.",
    },
    { name: "timeout", value: "DURATION", description: "How long to wait for that.", default: "2m" },
    { name: "dry-run", description: "Have the server check each write, and change nothing." },
    outputOption("text", "json"),
    { name: "namespace", short: "n", value: "NAME", description: "Namespace. Default: that of the context." },
    ...clusterOptions,
  ],
  examples: [
    { command: "keyturn credentials set catalog-db -n shop -f creds.json", what: "From a file" },
    { command: "vault read -format=json db | keyturn credentials set catalog-db -f -", what: "From another program" },
    { command: "keyturn credentials set catalog-db -f creds.json --dry-run", what: "Whether it would work" },
  ],
  run: async (flags, world) => {
    // A mistake in the file is said before a cluster is asked for.
    const wish = await readWish(flags, world);
    return withCluster(flags, world, (call) => fulfil(call, wish));
  },
};

export const runCredentials = async (call: ClusterCall): Promise<ExitCode> =>
  fulfil(call, await readWish(call.flags, call.world));

async function fulfil(call: ClusterCall, wish: CredentialsWish): Promise<ExitCode> {
  const { kube, world } = call;
  const at = { namespace: wish.namespace ?? call.namespace, name: wish.name };
  const title = titleOf({ kind: cfServiceInstance.kind, metadata: at });
  const say = (whose: string, line: string): void => {
    if (wish.format === "text") world.stdout.write(`${whose}: ${line}${wish.isDryRun ? " (dry run)" : ""}\n`);
  };
  const { clock, onStop } = world;
  const result = await setCredentials({
    ...{ kube, at, wish, clock, onStop },
    onStep: (step) => say(title, stepWords(step)),
  });
  if (result.kind === "refused") {
    world.stderr.write(`keyturn: ${title}: ${result.why}\n`);
    return result.isStopped ? EXIT_CODES.interrupted : EXIT_CODES.failed;
  }
  const { secretName, steps, version = "" } = result;
  if (steps.every(({ kind }) => kind === "point")) {
    say(title, `the Secret ${secretName} has these credentials already`);
  }
  let taken: WaitResult | undefined;
  if (wish.timeoutMs !== undefined) {
    const set = { secretName, version, credentials: wish.credentials };
    taken = await new CredentialsWait({ call, at, set, timeoutMs: wish.timeoutMs, say }).run();
    const { bindings, isTakenUp } = taken;
    if (isTakenUp && bindings.length > 1) say(title, `all ${bindings.length} bindings have taken them up`);
  }
  if (wish.format === "json") {
    const told = { ...at, secretName, isDryRun: wish.isDryRun, steps: steps.map(stepJson), ...takenJson(taken) };
    world.stdout.write(`${JSON.stringify(told, null, 2)}\n`);
  }
  return taken?.code ?? 0;
}

function stepWords({ kind, secretName }: SetStep): string {
  if (kind === "point") return `spec.secretName set to ${secretName}`;
  return kind === "create"
    ? `Secret ${secretName} made with the credentials`
    : `credentials written to the Secret ${secretName}`;
}

const STEP_NAMES = { point: "SecretNamed", create: "SecretCreated", write: "SecretWritten" } as const;
const stepJson = ({ kind, secretName }: SetStep) => ({ step: STEP_NAMES[kind], secretName });

const takenJson = (taken: WaitResult | undefined) =>
  taken && {
    isTakenUp: taken.isTakenUp,
    bindings: taken.bindings.map(({ name, appName, secretName, isDone, problem }) => ({
      ...{ name, appName, secretName, isTakenUp: isDone },
      ...(!isDone && { problem }),
    })),
  };
