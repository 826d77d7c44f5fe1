import { createBtpFamily } from "../../reconcile/btp/btp-family.ts";
import { CREDENTIALS_SECRET, putProviderConfig } from "../../reconcile/btp/btp-objects.fixture.ts";
import type { SandboxSnapshot } from "../../sandbox/service-manager/records.ts";
import { type LiveBinding, SandboxServiceManager } from "../../sandbox/service-manager/sandbox-service-manager.ts";
import type { Switches } from "../../sandbox/service-manager/switches.ts";
import { CANARY, SETTLE_MS } from "../scene.ts";
import {
  type Climate,
  type Family,
  faceOf,
  type LiveKey,
  type Outside,
  type OutsideOptions,
  SANDBOX_URL,
  wishing,
} from "./family.ts";

interface ServiceManagerClimate extends Climate {
  readonly switches?: Partial<Switches>;
}

const CLIMATES: readonly ServiceManagerClimate[] = [
  { name: "calm" },
  { name: "asynchronous", instance: { broker: "asynchronous", brokerWorkMs: 5000 } },
  { name: "lagging", switches: { createdHiddenMs: 20_000, deletedListedMs: 20_000 } },
  // Names are not unique under concurrency.
  { name: "racing", switches: { nameRaceMs: 30_000, createdHiddenMs: 5000 } },
];

const INSTANCE = "serviceInstanceId";

/** ServiceBindings, and the Service Manager that their keys are at. */
export const btp: Family = {
  name: "btp",
  holders: {
    create: () => createBtpFamily({ settleMs: SETTLE_MS }),
    credentials: CREDENTIALS_SECRET,
    instance: INSTANCE,
  },
  climates: CLIMATES,
  specOf: wishing(INSTANCE, "spec"),
  hasUniqueNames: false,
  secretKeys: ["credentials", "hostname", "password", "port", "uri", "username"],
  damage: { uri: "ZWxzZXdoZXJl" },
  words: {
    problem: (error) => JSON.stringify({ error, description: "drawn by the simulation" }),
    withheld: (body) => {
      const { credentials: _, ...rest } = JSON.parse(body) as Readonly<Record<string, unknown>>;
      return JSON.stringify(rest);
    },
  },
  open: openServiceManager,
};

function openServiceManager({ clock, random, climate, snapshot }: OutsideOptions): Outside {
  const known = snapshot === undefined ? {} : { snapshot: snapshot as SandboxSnapshot };
  const sandbox = new SandboxServiceManager({ clock, random, canary: CANARY, ...known });
  const { controls } = sandbox;
  if (snapshot === undefined) controls.set(climate.switches ?? {});
  return {
    ...faceOf(sandbox),
    liveKeys: () => sandbox.liveBindings().map(liveKey),
    configure: (kube) => putProviderConfig(kube, controls.issueClient(SANDBOX_URL)),
    grant: (rights) => {
      const { clientid = "" } = controls.credentials(SANDBOX_URL) ?? {};
      controls.setClientPlan(clientid, rights === "all" ? "subaccount-admin" : "service-operator-access");
    },
  };
}

const liveKey = ({ labels, ...binding }: LiveBinding): LiveKey => ({
  ...binding,
  cluster: labels.keyturn_cluster?.[0],
  holder: labels.keyturn_name?.[0],
  sequence: Number(labels.keyturn_sequence?.at(-1) ?? 0),
});
