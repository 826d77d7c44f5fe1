import { createCloudFoundryFamily } from "../../reconcile/cloudfoundry/cloud-foundry-family.ts";
import { CREDENTIALS_SECRET, putProviderConfig } from "../../reconcile/cloudfoundry/cloud-foundry-objects.fixture.ts";
import type { CloudFoundrySnapshot, Role } from "../../sandbox/cloud-foundry/records.ts";
import { SandboxCloudFoundry, type LiveKey as SandboxKey } from "../../sandbox/cloud-foundry/sandbox-cloud-foundry.ts";
import type { Switches } from "../../sandbox/cloud-foundry/switches.ts";
import { CANARY, SETTLE_MS } from "../scene.ts";
import {
  type Climate,
  type Family,
  faceOf,
  type LiveKey,
  type Outside,
  type OutsideOptions,
  type Rights,
  SANDBOX_URL,
  wishing,
} from "./family.ts";

interface FoundationClimate extends Climate {
  readonly switches?: Partial<Switches>;
}

const slowBroker = { broker: "asynchronous", brokerWorkMs: 5000 } as const;

const CLIMATES: readonly FoundationClimate[] = [
  { name: "calm" },
  { name: "asynchronous", instance: slowBroker },
  { name: "lagging", switches: { createdHiddenMs: 20_000, deletedListedMs: 20_000 } },
  // Jobs wait for a worker, and nobody remembers those that are done.
  { name: "forgetful", instance: slowBroker, switches: { jobQueueMs: 2000, jobMemoryMs: 0 } },
  // Keys are made without marks, which are put on them afterwards.
  { name: "unmarked", isMarkedLater: true, switches: { metadataInCreate: "refused" } },
];

const ROLES: Readonly<Record<Rights, Role>> = { all: "space-developer", few: "space-auditor", none: "none" };

export const INSTANCE = "serviceInstance";

/** ServiceCredentialBindings, and the Cloud Foundry that their keys are at. */
export const cloudFoundry: Family = {
  name: "cloudfoundry",
  holders: {
    create: () => createCloudFoundryFamily({ settleMs: SETTLE_MS }),
    credentials: CREDENTIALS_SECRET,
    instance: INSTANCE,
  },
  climates: CLIMATES,
  specOf: wishing(INSTANCE, "forProvider"),
  hasUniqueNames: true,
  secretKeys: ["hostname", "password", "port", "uri", "username"],
  damage: { uri: "ZWxzZXdoZXJl" },
  words: {
    problem: (name) =>
      JSON.stringify({ errors: [{ code: 10001, title: `CF-${name}`, detail: "drawn by the simulation" }] }),
    // A broker that gives none: an object without anything in it.
    withheld: (body) =>
      body.startsWith('{"credentials":') ? JSON.stringify({ ...(JSON.parse(body) as object), credentials: {} }) : body,
  },
  open: openCloudFoundry,
};

/** Long enough that logging in is not what most schedules are about. */
const TOKEN_LIFETIME_MS = 12 * 3_600_000;

function openCloudFoundry({ clock, random, climate, snapshot }: OutsideOptions): Outside {
  const known = snapshot === undefined ? {} : { snapshot: snapshot as CloudFoundrySnapshot };
  const sandbox = new SandboxCloudFoundry({ clock, random, canary: CANARY, url: SANDBOX_URL, ...known });
  const { controls } = sandbox;
  if (snapshot === undefined) controls.set({ tokenLifetimeMs: TOKEN_LIFETIME_MS, ...climate.switches });
  return {
    ...faceOf(sandbox),
    liveKeys: () => sandbox.liveKeys().map(liveKey),
    configure: (kube) => putProviderConfig(kube, controls.issueLogin(SANDBOX_URL)),
    grant: (rights) => {
      const login = controls.login(SANDBOX_URL);
      if (login && "username" in login) controls.setRole(login.username, ROLES[rights]);
    },
  };
}

function liveKey(key: SandboxKey): LiveKey {
  const { id, instanceId, createdAt, lastOperation, credentialsWork, metadata } = key;
  const { labels, annotations } = metadata;
  return {
    id,
    name: key.name ?? "",
    instanceId,
    createdAt,
    isReady: lastOperation.type === "create" && lastOperation.state === "succeeded",
    credentialsWork,
    cluster: labels["keyturn.dev/cluster"],
    holder: annotations["keyturn.dev/name"],
    sequence: Number(labels["keyturn.dev/sequence"] ?? 0),
  };
}
