import { randomBytes } from "node:crypto";
import { systemClock } from "../../src/base/clock.ts";
import { AlreadyExists, NotFound } from "../../src/kube/errors.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { certificates, ForeignControllers } from "../reconcile/foreign-kinds.ts";
import { Mirror } from "../rotation/mirror.ts";

/** Plays the controller of Certificates by a watch: each is served once, as soon as it is seen. */
export class CertificatePlayer {
  readonly problems: string[] = [];
  readonly #kube: Kube;
  readonly #controllers: ForeignControllers;
  readonly #mirror: Mirror;
  readonly #served = new Set<string>();
  readonly #underWay = new Set<Promise<void>>();

  constructor(kube: Kube) {
    this.#kube = kube;
    this.#controllers = new ForeignControllers(kube, systemClock);
    this.#mirror = new Mirror(kube, certificates, (certificate) => this.#see(certificate));
  }

  async synced(): Promise<void> {
    await this.#mirror.synced();
  }

  async stop(): Promise<void> {
    await this.#mirror.stop();
    await Promise.all(this.#underWay);
  }

  #see(certificate: KubeObject): void {
    const { uid = "", name, deletionTimestamp } = certificate.metadata;
    if (deletionTimestamp !== undefined || this.#served.has(uid)) return;
    this.#served.add(uid);
    const serving = this.#serve(certificate).catch((error: unknown) => {
      if (!(error instanceof NotFound)) this.problems.push(`the Certificate ${name}: ${error}`);
    });
    this.#underWay.add(serving);
    void serving.finally(() => this.#underWay.delete(serving));
  }

  async #serve(certificate: KubeObject): Promise<void> {
    const { namespace = "", name: owner } = certificate.metadata;
    const { secretName: name = owner } = certificate.spec as { readonly secretName?: string };
    const data = { "tls.crt": bytes(), "tls.key": bytes() };
    const metadata = { namespace, name };
    const secret = { apiVersion: "v1", kind: "Secret", metadata, type: "kubernetes.io/tls", data };
    await this.#kube.create<KubeObject>(secretType, secret).catch((error: unknown) => {
      if (!(error instanceof AlreadyExists)) throw error;
    });
    await this.#controllers.condition(certificates, certificate, { status: "True", reason: "Ready" });
  }
}

const bytes = (): string => randomBytes(24).toString("base64");
