import type { Kube } from "../../src/kube/port.ts";
import type { HttpPort } from "../../src/providers/http-port.ts";

/** Before the write reaches anybody, or after it has and before its answer is heard. */
export type Side = "before" | "after";

/**
 * Ends a process at one of its writes, to the API server or outside: from then on nothing that it sends reaches anybody,
 * and it hears of nothing.
 */
export class Fuse {
  readonly #at: number;
  readonly #side: Side;
  #writes = 0;
  #isBlown = false;
  /** The write at which it ended. */
  last = "";

  constructor(at: number, side: Side) {
    this.#at = at;
    this.#side = side;
  }

  get isBlown(): boolean {
    return this.#isBlown;
  }

  kube(kube: Kube): Kube {
    return {
      get: (type, ref, options) => this.#read(() => kube.get(type, ref, options)),
      list: (type, options) => this.#read(() => kube.list(type, options)),
      watch: (type, options) => kube.watch(type, options),
      create: (type, object, options) => this.#write(`create ${type.kind}`, () => kube.create(type, object, options)),
      replace: (type, object, options) =>
        this.#write(`replace ${type.kind}`, () => kube.replace(type, object, options)),
      patch: (type, ref, patch, options) =>
        this.#write(`patch ${type.kind}`, () => kube.patch(type, ref, patch, options)),
      delete: (type, ref, options) => this.#write(`delete ${type.kind}`, () => kube.delete(type, ref, options)),
      fetch: (path, options) => this.#read(() => kube.fetch(path, options)),
      discover: (group, version, options) => this.#read(() => kube.discover(group, version, options)),
      close: () => kube.close(),
    };
  }

  http(http: HttpPort): HttpPort {
    return {
      send: (request, signal) => {
        const send = () => http.send(request, signal);
        // Asking for a token changes nothing.
        const isWrite = request.method !== "GET" && !request.url.includes("/oauth/");
        return isWrite ? this.#write(`${request.method} outside`, send) : this.#read(send);
      },
    };
  }

  async #read<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isBlown) throw new Error("this process is dead");
    return work();
  }

  async #write<T>(what: string, work: () => Promise<T>): Promise<T> {
    if (this.#isBlown) throw new Error("this process is dead");
    this.#writes++;
    if (this.#writes !== this.#at) return work();
    this.#isBlown = true;
    this.last = what;
    if (this.#side === "after") await work();
    throw new Error("this process is dead");
  }
}
