import type { KubeObject } from "../../kube/objects.ts";
import type { SendCommand } from "../../providers/bind/ports.ts";
import { RndcCommandFailed, RndcRefused, RndcTimeout, RndcUnreachable } from "../../rndc/errors.ts";
import { secretText } from "../../rndc/key.ts";
import { configIn, isSame, type KeyText } from "./objects.ts";

/** What servers are given to read, and whose doing it is. */
export interface Content {
  readonly secret: KubeObject;
  readonly author: "operator" | "person";
}

/** A named in a pod. */
export interface Server {
  readonly uid: string;
  readonly name: string;
  readonly host: string;
  /** What is mounted, and what is on its way there. */
  mount: Content;
  coming: readonly { readonly at: number; readonly content: Content }[];
  /** How late its mount is; Infinity: it never comes. */
  delayMs: number;
  accepted: readonly KeyText[];
  /** What it last read. */
  read: Content;
  /** It was started on something older than was stored then, and has read nothing since. */
  startedBehind: boolean;
  isSilent: boolean;
  /** On everybody, whatever keys it knows. */
  hangsUp: boolean;
  /** It reads nothing again, whoever asks for it. */
  isJammed: boolean;
}

/** What a kubelet sees. */
interface Sight {
  readonly now: number;
  /** What servers of pods read; undefined: what is mounted stays, and no pod starts. */
  readonly content: Content | undefined;
  /** What else a pod needs is there. */
  readonly canStart: boolean;
  readonly pods: readonly KubeObject[];
  /** Whether somebody has it started now. */
  isStarting(pod: KubeObject): boolean;
}

export interface ServerRecords {
  readonly servers: Map<string, Server>;
  /** What was stored last and before, with when. */
  contents: readonly { readonly at: number; readonly content: Content }[];
  hosts: number;
}

export interface Pace {
  /** How long after a change the mounts of pods have it, in turn. */
  readonly delaysMs: readonly number[];
  /** So much older than what is stored may be what a pod starts on. */
  readonly lagMs: number;
  /** Mounts follow what is stored, as those of a ring do; a single key is read when a pod starts. */
  readonly follows: boolean;
}

/**
 * Plays kubelets and the named of each pod, without a call: mounts that come late, one by one, and servers that read what is
 * mounted when they start and when they are told to. Must not: know the operator.
 */
export class PlayedServers {
  readonly #records: ServerRecords;
  readonly #pace: Pace;

  constructor(pace: Pace, records: ServerRecords = { servers: new Map(), contents: [], hosts: 0 }) {
    this.#pace = pace;
    this.#records = structuredClone(records);
  }

  snapshot(): ServerRecords {
    return structuredClone(this.#records);
  }

  get running(): readonly Server[] {
    return [...this.#records.servers.values()];
  }

  /** Does what is due. Pods that have started since are returned, with the addresses that they have now. */
  work(sight: Sight): readonly { readonly pod: KubeObject; readonly host: string }[] {
    const { servers } = this.#records;
    const uids = new Set(sight.pods.map(({ metadata }) => metadata.uid ?? ""));
    for (const uid of servers.keys()) if (!uids.has(uid)) servers.delete(uid);
    this.#follow(sight);
    if (!sight.canStart) return [];
    const idle = sight.pods.filter((pod) => !servers.has(pod.metadata.uid ?? "") && sight.isStarting(pod));
    return idle.flatMap((pod) => this.#start(pod, sight) ?? []);
  }

  #follow({ content, now }: Sight): void {
    const records = this.#records;
    const last = records.contents[0];
    if (content && last?.content.secret.metadata.resourceVersion !== content.secret.metadata.resourceVersion) {
      records.contents = [{ at: now, content }, ...records.contents.slice(0, 3)];
      if (this.#pace.follows)
        for (const server of this.running) server.coming = [...server.coming, { at: now + server.delayMs, content }];
    }
    for (const server of this.running) {
      const last = server.coming.findLastIndex(({ at }) => at <= now);
      server.mount = server.coming[last]?.content ?? server.mount;
      // What is older than that does not come any more.
      server.coming = server.coming.slice(last + 1);
    }
  }

  #start(pod: KubeObject, { content, now }: Sight): { readonly pod: KubeObject; readonly host: string } | undefined {
    const records = this.#records;
    const { delaysMs, lagMs } = this.#pace;
    const handed = records.contents.find(({ at }) => at <= now - lagMs)?.content ?? content;
    const accepted = content && handed && configIn(handed.secret);
    if (!accepted) return undefined;
    const { uid = "", name } = pod.metadata;
    const delayMs = delaysMs[records.hosts % delaysMs.length] ?? 0;
    const host = `10.0.0.${++records.hosts}`;
    const isBehind = handed.secret.metadata.resourceVersion !== content.secret.metadata.resourceVersion;
    const coming = isBehind && this.#pace.follows ? [{ at: now + delayMs, content }] : [];
    const state = {
      accepted,
      read: handed,
      startedBehind: isBehind,
      isSilent: false,
      hangsUp: false,
      isJammed: false,
    };
    records.servers.set(uid, { uid, name, host, mount: handed, coming, delayMs, ...state });
    return { pod, host };
  }

  /** It reads what is mounted; false where it does not take it. */
  read(server: Server): boolean {
    const accepted = server.isJammed ? undefined : configIn(server.mount.secret);
    if (!accepted) return false;
    const startedBehind = server.startedBehind && server.mount === server.read;
    Object.assign(server, {
      accepted,
      read: server.mount,
      startedBehind,
    } satisfies Partial<Server>);
    return true;
  }

  /** What a command meets. */
  get command(): SendCommand {
    return async ({ host, key, command }) => {
      const server = this.running.find((one) => one.host === host);
      if (!server) throw new RndcUnreachable(`${host} cannot be reached: ECONNREFUSED`);
      if (server.isSilent) throw new RndcTimeout(`${host} gave no answer`);
      const said = { secret: secretText(key).reveal(), algorithm: key.algorithm };
      if (server.hangsUp || !server.accepted.some((one) => isSame(one, said))) throw new RndcRefused(`${host} hung up`);
      if (command === "reconfig" && !this.read(server))
        throw new RndcCommandFailed("reconfig: failure", { result: 25, text: "" });
      return { text: "" };
    };
  }
}
