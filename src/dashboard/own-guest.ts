import { KubeError } from "../kube/errors.ts";
import type { KubeObject, ResourceType } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import { fieldsOf, textOf } from "../reconcile/managed/read-fields.ts";
import type { Guest } from "./gate.ts";
import { type Sight, wholeSight } from "./sight.ts";

const selfReview: ResourceType = {
  group: "authentication.k8s.io",
  version: "v1",
  plural: "selfsubjectreviews",
  kind: "SelfSubjectReview",
  namespaced: false,
};

export interface OwnGuestOptions {
  readonly kube: Kube;
  /** What they are called while nobody has said. */
  readonly origin: string;
  /** What the watches could not look at, in words. */
  readonly unseen: () => readonly string[];
}

/** Whoever has started this process: what they may not see was never read, since all is read with their own rights. */
export class OwnGuest implements Guest {
  readonly kube: Kube;
  readonly #options: OwnGuestOptions;
  #name: string | undefined;
  #isAsked = false;

  constructor(options: OwnGuestOptions) {
    this.kube = options.kube;
    this.#options = options;
  }

  get name(): string {
    return this.#name ?? this.#options.origin;
  }

  async sight(): Promise<Sight> {
    if (this.#name === undefined && !this.#isAsked) await this.#askName();
    return wholeSight(this.#options.unseen());
  }

  async #askName(): Promise<void> {
    const draft = { apiVersion: "authentication.k8s.io/v1", kind: selfReview.kind, metadata: {} };
    try {
      const { status } = await this.kube.create<KubeObject>(selfReview, draft, { timeoutMs: 2000 });
      this.#name = textOf(fieldsOf(fieldsOf(status).userInfo).username);
      this.#isAsked = true;
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      // A server that answers, and does not say, will not say so later.
      this.#isAsked = error.status !== undefined;
    }
  }
}
