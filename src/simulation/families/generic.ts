import { rotationClass } from "../../api/keyturn/rotation-class.ts";
import { Forbidden, NotFound } from "../../kube/errors.ts";
import { serviceAccountUser } from "../../kube/impersonating.ts";
import { apiVersionOf, type KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { fieldsOf } from "../../reconcile/managed/read-fields.ts";
import { createGenericFamily, leavesOn } from "../../reconcile/parents/generic/generic-family.ts";
import { createRotatingResourceKind } from "../../reconcile/parents/generic/rotating-resource-kind.ts";
import { readClass } from "../../reconcile/parents/generic/rotation-class-rules.ts";
import { FINGERPRINTER } from "../fingerprinter.ts";
import type { Call } from "../process.ts";
import { SECRET } from "../scene.ts";
import type { WatchView } from "../watch-view.ts";
import { type AuthorityRecords, type Issuer, playIssuing } from "./certificate-authority.ts";
import { certificateChildren, certificates, ISSUING_USER, issuedIn, secretNameOf, tlsKeys } from "./certificates.ts";
import type { Climate, Family, Outside, OutsideOptions, Parents, Rights, Wish } from "./family.ts";

const CLASS = "certificates";
const ACCOUNT = { namespace: SECRET.namespace, name: "rotator" };
const ACCOUNT_USER = serviceAccountUser(ACCOUNT);

interface IssuingClimate extends Climate {
  /** Certificates are the owners of their Secrets: a setting of cert-manager's, off unless somebody turns it on. */
  readonly ownsSecrets?: true;
}

const CLIMATES: readonly IssuingClimate[] = [
  { name: "calm" },
  { name: "owned", ownsSecrets: true },
  { name: "asynchronous", instance: { broker: "asynchronous", brokerWorkMs: 5000 } },
];

/**
 * RotatingResources, whose keys are Certificates, which are not ours: everything is done as a ServiceAccount, within a
 * class. There is nothing outside but the children themselves; an issuer stands for an instance, the class for the rights.
 */
export const generic: Family = {
  name: "generic",
  parents: rotatingResources(),
  climates: CLIMATES,
  specOf,
  hasUniqueNames: true,
  secretKeys: tlsKeys,
  damage: { "tls.key": "ZWxzZXdoZXJl" },
  words: { problem: (name) => name, withheld: (body) => body },
  open: openAuthority,
};

function specOf({
  rotation,
  instanceId,
  parameters,
  writeConnectionSecretToRef,
  deletionPolicy,
}: Wish): Readonly<Record<string, unknown>> {
  return {
    rotationClassName: CLASS,
    serviceAccountName: ACCOUNT.name,
    template: {
      apiVersion: apiVersionOf(certificates),
      kind: certificates.kind,
      spec: { secretName: secretNameOf("$(name)"), issuerRef: { name: instanceId }, subject: parameters },
    },
    childSecret: { name: secretNameOf("$(name)") },
    rotation,
    deletionPolicy,
    writeConnectionSecretToRef: writeConnectionSecretToRef && { name: writeConnectionSecretToRef.name },
  };
}

function rotatingResources(): Parents {
  const kind = createRotatingResourceKind();
  return {
    kind,
    children: certificateChildren,
    classType: rotationClass,
    open: ({ kube, clock, watch }) => ({
      family: createGenericFamily({
        kind,
        kube,
        clock,
        fingerprinter: FINGERPRINTER,
        classOf: (name) => {
          const found = watch.find(rotationClass, name);
          return found && readClass(found);
        },
      }),
      // Neither children nor Secrets are watched.
      known: {
        resource: (key) => watch.find(kind.type, key)?.metadata.resourceVersion,
        secret: () => undefined,
        secretPosition: () => "0",
        seesSecrets: false,
        inputs: () => watch.find(rotationClass, CLASS)?.metadata.resourceVersion ?? "",
      },
      options: { leavesOn: (error, object) => leavesOn(error, object, clock.now()) },
    }),
    trespassOf,
  };
}

/** Children and Secrets are touched as the account alone, and only while the class is there that allows it. */
function trespassOf({ port, verb, target, as }: Call, watch: WatchView): string | undefined {
  const [kind] = target.split(" ");
  if (port !== "kube" || (kind !== certificates.kind && kind !== "Secret") || as === ISSUING_USER) return undefined;
  if (as !== ACCOUNT_USER) return `S2 ${verb} ${target} was asked for with the operator's own rights`;
  const allowed = watch.find(rotationClass, CLASS);
  return allowed ? undefined : `S2 ${verb} ${target} was asked for without a class that allows it`;
}

const classObject = (): KubeObject => ({
  apiVersion: apiVersionOf(rotationClass),
  kind: rotationClass.kind,
  metadata: { name: CLASS },
  spec: {
    kinds: [{ group: certificates.group, kind: certificates.kind }],
    serviceAccounts: [ACCOUNT.name],
  },
});

interface Records extends AuthorityRecords {
  /** Of the account, beside what the class allows. */
  rights: Exclude<Rights, "none">;
}

const NEW: Records = { issuers: new Map(), orders: new Map(), issued: 0, outage: 0, rights: "all" };

function openAuthority({ clock, kube, climate, snapshot, stored }: OutsideOptions): Outside {
  const records = structuredClone((snapshot as Records | undefined) ?? NEW);
  const { issuers } = records;
  const ownsSecrets = (climate as IssuingClimate).ownsSecrets === true;
  const isAlive = (uid: string): boolean => stored(certificates).some(({ metadata }) => metadata.uid === uid);
  return {
    handle: () => Promise.reject(new TypeError("nothing outside the cluster may be asked")),
    snapshot: () => structuredClone(records),
    liveKeys: () => [],
    // What was issued for a child is good for as long as that child is there.
    authenticate: (values) => isAlive(issuedIn(values)?.uid ?? ""),
    configure: (own) => putClass(own),
    set: ({ outage = "none", outageRequests = "always" }) => {
      records.outage = outage === "none" ? 0 : outageRequests;
    },
    instances: () => [...issuers.keys()],
    putInstance: (wish, id = `issuer-${issuers.size + 1}`) => {
      issuers.set(id, issuerWith(wish, issuers.get(id)));
      return id;
    },
    removeInstance: (id) => void issuers.delete(id),
    removeKey: () => {},
    grant: async (rights) => {
      records.rights = rights === "few" ? "few" : "all";
      if (rights === "none") await removeClass(kube);
      else if (!stored(rotationClass).some(({ metadata }) => metadata.name === CLASS)) await putClass(kube);
    },
    served: (plain) => guarded(plain, (as) => as === ACCOUNT_USER && records.rights === "few"),
    play: (own, machine) => playIssuing({ kube: own, clock: machine, records, now: () => clock.now(), ownsSecrets }),
  };
}

type InstanceWish = Parameters<Outside["putInstance"]>[0];

function issuerWith(wish: InstanceWish, known: Issuer = { workMs: 0, failures: 0 }): Issuer {
  const { broker, brokerWorkMs = known.workMs, brokerFailures = known.failures, brokerFailsOn } = wish;
  return {
    workMs: broker === "synchronous" ? 0 : brokerWorkMs,
    failures: brokerFailsOn === "unbind" ? known.failures : brokerFailures,
  };
}

const putClass = async (kube: Kube): Promise<void> => {
  await kube.create<KubeObject>(rotationClass, classObject());
};

async function removeClass(kube: Kube): Promise<void> {
  try {
    await kube.delete(rotationClass, { name: CLASS });
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
}

/** The API, which refuses whatever some users ask. */
function guarded(kube: Kube, isForbidden: (as: string | undefined) => boolean): Kube {
  const admit = ({ as }: { readonly as?: string } = {}): void => {
    if (isForbidden(as)) throw new Forbidden(`User "${as}" may do nothing here`);
  };
  return new Proxy(kube, {
    get: (target, name) => {
      const method = Reflect.get(target, name) as (...input: readonly unknown[]) => unknown;
      return async (...input: readonly unknown[]) => {
        admit(fieldsOf(input.at(-1)) as { readonly as?: string });
        return method.apply(target, [...input]);
      };
    },
  });
}
