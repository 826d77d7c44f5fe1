import type { Clock } from "../../base/clock.ts";
import { formatInstant } from "../../base/instant.ts";
import { NotFound, Unavailable } from "../../kube/errors.ts";
import { impersonating } from "../../kube/impersonating.ts";
import { apiVersionOf, type KubeObject, type ObjectRef, type ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { fieldsOf, itemsOf, textOf } from "../../reconcile/managed/read-fields.ts";
import type { Outcome, Reconcile } from "../../runtime/workers.ts";
import { type Count, spend, strikes } from "../../sandbox/controls/settings.ts";
import {
  certificates,
  dataOf,
  ISSUE_AGAIN,
  ISSUED_FOR,
  ISSUING_USER,
  type Issued,
  issuedInSecret,
  issuerOf,
} from "./certificates.ts";

/** An issuer as it behaves now. */
export interface Issuer {
  readonly workMs: number;
  /** So many orders fail from here on. */
  failures: Count;
}

/** All that an authority remembers: plain data, to go on from. */
export interface AuthorityRecords {
  readonly issuers: Map<string, Issuer>;
  /** When it will have worked off what was ordered, by the order. */
  readonly orders: Map<string, number>;
  issued: number;
  /** So many times it answers nobody. */
  outage: Count;
}

/** What becomes of an order. */
type Answer =
  | { readonly kind: "issued"; readonly serial: number }
  | { readonly kind: "coming"; readonly at: number }
  | { readonly kind: "failed" }
  | { readonly kind: "no issuer" };

const TRY_AGAIN_MS = 10_000;
/** What was issued under which conditions, so that a change of them is noticed. */
const TERMS = "cert-manager.io/terms";

export interface IssuingOptions {
  readonly kube: Kube;
  /** That of the process. */
  readonly clock: Clock;
  readonly records: AuthorityRecords;
  /** That of the issuers. */
  readonly now: () => number;
  /** Whether a Secret names its certificate as its owner. */
  readonly ownsSecrets: boolean;
}

/**
 * Plays the controller of Certificates, with rights of its own, one object at a time: it has a certificate issued, writes
 * it into the Secret that the spec names, makes damaged ones anew, and says how it went. It remembers nothing, and can end
 * at any call. As cert-manager's, it leaves its Secrets where they are when a Certificate goes. Must not: know of parents.
 */
export function playIssuing(options: IssuingOptions): Reconcile {
  const controller = new IssuingController(options);
  return (key) => controller.reconcile(key);
}

const SETTLED: Outcome = { kind: "settled" };

class IssuingController {
  readonly #options: IssuingOptions;
  readonly #kube: Kube;

  constructor(options: IssuingOptions) {
    this.#options = options;
    this.#kube = impersonating(options.kube, ISSUING_USER);
  }

  async reconcile(key: string): Promise<Outcome> {
    const [namespace = "", name = ""] = key.split("/");
    const child = await this.#find(certificates, { namespace, name });
    if (!child || child.metadata.deletionTimestamp !== undefined) return SETTLED;
    const secretName = textOf(fieldsOf(child.spec).secretName) ?? name;
    const secret = await this.#find(secretType, { namespace, name: secretName });
    if (isOf(child, secret)) return this.#say(child, "True", "Ready");
    const answer = this.#order(child);
    if (answer.kind !== "issued") return this.#wait(child, answer);
    const { uid = "" } = child.metadata;
    await this.#write(child, { namespace, name: secretName }, secret, { uid, serial: answer.serial });
    const current = await this.#find(certificates, { namespace, name });
    return current?.metadata.uid === uid ? this.#say(current, "True", "Ready") : SETTLED;
  }

  #order(child: KubeObject): Answer {
    const { records, now } = this.#options;
    if (strikes(records.outage)) {
      records.outage = spend(records.outage);
      throw new Unavailable("the issuer does not answer");
    }
    const issuer = records.issuers.get(issuerOf(child));
    if (!issuer) return { kind: "no issuer" };
    const order = `${child.metadata.uid} ${termsOf(child)}`;
    const at = records.orders.get(order) ?? now() + issuer.workMs;
    records.orders.set(order, at);
    if (at > now()) return { kind: "coming", at };
    records.orders.delete(order);
    if (strikes(issuer.failures)) {
      issuer.failures = spend(issuer.failures);
      return { kind: "failed" };
    }
    return { kind: "issued", serial: ++records.issued };
  }

  async #wait(child: KubeObject, answer: Exclude<Answer, { kind: "issued" }>): Promise<Outcome> {
    const { clock, now } = this.#options;
    await this.#say(child, "False", answer.kind === "no issuer" ? "DoesNotExist" : "Issuing");
    if (answer.kind === "no issuer") return SETTLED;
    return { kind: "recheck", at: clock.now() + (answer.kind === "coming" ? answer.at - now() : TRY_AGAIN_MS) };
  }

  /** Over what was read, and nothing else; labels and owners that others have put there stay. */
  async #write(child: KubeObject, ref: ObjectRef, over: KubeObject | undefined, issued: Issued): Promise<void> {
    const { name, uid = "" } = child.metadata;
    const { metadata = ref } = over ?? {};
    const { ownerReferences = [], annotations } = metadata as Partial<KubeObject["metadata"]>;
    const owner = { apiVersion: apiVersionOf(certificates), kind: certificates.kind, name, uid };
    const isToOwn = this.#options.ownsSecrets && !ownerReferences.some((one) => one.uid === uid);
    const secret: KubeObject = {
      apiVersion: "v1",
      kind: secretType.kind,
      type: "kubernetes.io/tls",
      metadata: {
        ...metadata,
        annotations: { ...annotations, [ISSUED_FOR]: uid, [TERMS]: termsOf(child) },
        ownerReferences: isToOwn ? [...ownerReferences, owner] : ownerReferences,
      },
      data: dataOf(issued),
    };
    if (over) await this.#kube.replace(secretType, secret);
    else await this.#kube.create(secretType, secret);
  }

  /** Says how it is, unless it has said so already. */
  async #say(child: KubeObject, status: "True" | "False", reason: string): Promise<Outcome> {
    const { generation: observedGeneration } = child.metadata;
    const known = itemsOf(fieldsOf(child.status).conditions).find(({ type }) => type === "Ready");
    const isSame = known?.status === status && known.reason === reason;
    if (isSame && known.observedGeneration === observedGeneration) return SETTLED;
    const since = known?.status === status ? textOf(known.lastTransitionTime) : undefined;
    const lastTransitionTime = since ?? formatInstant(this.#options.clock.now());
    const condition = { type: "Ready", status, reason, lastTransitionTime, observedGeneration };
    await this.#kube.replace(
      certificates,
      { ...child, status: { conditions: [condition] } },
      { subresource: "status" },
    );
    return SETTLED;
  }

  async #find(type: ResourceType, ref: ObjectRef): Promise<KubeObject | undefined> {
    try {
      return await this.#kube.get(type, ref);
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }
}

/** A change of these calls for another certificate. */
const termsOf = (child: KubeObject): string =>
  `${issuerOf(child)} ${child.metadata.annotations?.[ISSUE_AGAIN] ?? ""}`.trim();

const isOf = (child: KubeObject, secret: KubeObject | undefined): boolean =>
  secret !== undefined &&
  issuedInSecret(secret)?.uid === child.metadata.uid &&
  secret.metadata.annotations?.[TERMS] === termsOf(child);
