import { UsageError } from "../base/errors.ts";
import { isNamespaceName, isObjectName } from "../base/object-names.ts";
import { controllerNeeds } from "../install/permissions.ts";
import { ClockSkew } from "../kube/clock-skew.ts";
import { UndiciHttp } from "../providers/undici-http.ts";
import { checkJson, checkText, countOf } from "./check/check-text.ts";
import { gather } from "./check/gather/gather.ts";
import type { Account } from "./check/gather/rights.ts";
import { judge } from "./check/judge/judge.ts";
import type { Command, ExitCode, Flags, World } from "./command.ts";
import {
  controllerChoices,
  describeControllers,
  namespacesOption,
  readControllerNames,
  readNamespaces,
} from "./controller-names.ts";
import { readChoice, readNamespace } from "./flag-values.ts";
import { clientOf, clusterOptions, findAccess } from "./open-cluster.ts";
import { outputOption } from "./output-option.ts";
import { SYSTEM_NAMESPACE } from "./own-namespace.ts";
import { createPaint } from "./print/paint.ts";

const known = [...controllerNeeds.keys()];
const FORMATS = ["text", "json"] as const;

export const checkCommand: Command = {
  name: "check",
  summary: "Find out whether a cluster can run the operator, and what is in its way; writes nothing.",
  failsWhen: "There is a problem; warnings are none.",
  description:
    "The API server, the definitions and whose they are, rights, admission, the operator itself, clocks, every ProviderConfig,\nother operators, and resources that nobody looks after. A line for each finding, and below it what to do. It ends with 1\nwhere there are problems; a hint is none.",
  options: [
    outputOption(...FORMATS),
    {
      name: "namespace",
      short: "n",
      value: "NAME",
      description: "Where the operator runs, or is to run.",
      default: SYSTEM_NAMESPACE,
    },
    {
      name: "controllers",
      value: "NAMES",
      description: `Controllers that are to be switched on: ${describeControllers(known)}.`,
      default: "*",
      choices: controllerChoices(known),
    },
    namespacesOption,
    {
      name: "as-service-account",
      value: "NAMESPACE/NAME",
      description: "Whose rights are asked about. Default: those of the kubeconfig.",
    },
    { name: "before-install", description: "What an installation brings along need not be there yet." },
    { name: "offline", description: "Ask no external system; Secrets of ProviderConfigs are looked at all the same." },
    ...clusterOptions,
  ],
  examples: [
    { command: "keyturn check", what: "Everything, with the rights of the kubeconfig" },
    {
      command: "keyturn check --as-service-account keyturn-system/keyturn",
      what: "With the rights that the operator has",
    },
    { command: "keyturn check --before-install", what: "Before anything of Keyturn is on the cluster" },
    { command: "keyturn check --controllers btp,restart -o json", what: "For two controllers, for a program" },
  ],
  run: runCheck,
};

async function runCheck(flags: Flags, world: World): Promise<ExitCode> {
  const format = readChoice(flags, "output", FORMATS);
  const question = {
    controllers: readControllerNames(flags, known),
    namespace: readNamespace(flags),
    scopedNamespaces: readNamespaces(flags),
    account: readAccount(flags),
    isOffline: flags.isOn("offline"),
  };
  const access = await findAccess(flags, world);
  const skew = new ClockSkew(world.clock);
  let hasHeard = false;
  const kube = clientOf(access, world, {
    defaultTimeoutMs: 10_000,
    onServerDate: (serverAt) => {
      skew.observe(serverAt);
      hasHeard = true;
    },
  });
  const http = new UndiciHttp({ connectTimeoutMs: 5_000 });
  try {
    const { clock, version } = world;
    const skewMs = () => (hasHeard ? skew.skewMs : undefined);
    const groups = judge(
      await gather({ ...question, kube, access, clock, skewMs, http, version }),
      flags.isOn("before-install") ? "before install" : "installed",
    );
    world.stdout.write(
      format === "json" ? `${JSON.stringify(checkJson(groups), null, 2)}\n` : checkText(groups, createPaint(world)),
    );
    return countOf(groups, "problem") > 0 ? 1 : 0;
  } finally {
    await Promise.all([kube.close(), http.close()]);
  }
}

function readAccount(flags: Flags): Account | undefined {
  const given = flags.text("as-service-account");
  if (given === undefined) return undefined;
  const [namespace = "", name = "", ...rest] = given.split("/");
  if (rest.length === 0 && isNamespaceName(namespace) && isObjectName(name)) return { namespace, name };
  throw new UsageError(`--as-service-account: "${given}" is not NAMESPACE/NAME`);
}
