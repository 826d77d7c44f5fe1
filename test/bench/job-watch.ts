import { Readable } from "node:stream";
import type { TransportResponse } from "../../src/kube/transport.ts";
import type { Passage } from "../support/gateway.ts";

/** A job that makes a key, from when it was asked for. */
interface Job {
  readonly finishesAt: number;
}

/**
 * Stands before a Cloud Foundry and notes how long after a job had finished somebody first heard of it. When it finishes is
 * known from how long the broker of its instance takes; counted from before the request is handed on, it tells too late
 * rather than too early. Must not: change anything on its way.
 */
export class JobWatch {
  /** From finished to noticed, of each job that made a key. */
  readonly noticedMs: number[] = [];
  readonly #jobs = new Map<string, Job>();
  readonly #workMsOf: (instanceId: string) => number;

  constructor(workMsOf: (instanceId: string) => number) {
    this.#workMsOf = workMsOf;
  }

  readonly carry = async (passage: Passage): Promise<TransportResponse> => {
    const { method, path } = passage;
    const sentAt = Date.now();
    const answer = await passage.handOn();
    if (method === "POST" && path === "/v3/service_credential_bindings") this.#begin(passage, answer, sentAt);
    const [, id] = /^\/v3\/jobs\/([^/?]+)$/.exec(path) ?? [];
    return id === undefined ? answer : this.#look(id, answer);
  };

  #begin({ body }: Passage, { headers }: TransportResponse, sentAt: number): void {
    const [, id] = /\/v3\/jobs\/([^/]+)$/.exec(headers.location ?? "") ?? [];
    const { relationships } = JSON.parse(body) as {
      readonly relationships: { readonly service_instance: { readonly data: { readonly guid: string } } };
    };
    const workMs = this.#workMsOf(relationships.service_instance.data.guid);
    if (id !== undefined) this.#jobs.set(id, { finishesAt: sentAt + workMs });
  }

  async #look(id: string, answer: TransportResponse): Promise<TransportResponse> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    const job = this.#jobs.get(id);
    const { state } = JSON.parse(Buffer.concat(chunks).toString()) as { readonly state?: string };
    if (job && state === "COMPLETE") {
      this.#jobs.delete(id);
      this.noticedMs.push(Date.now() - job.finishesAt);
    }
    return { ...answer, body: Readable.from(chunks) };
  }
}
