import { Buffer } from "node:buffer";
import type { Clock } from "../../src/base/clock.ts";
import type { Random } from "../../src/base/random.ts";
import { NAMED_CONF, namedConf, PATHS } from "../../src/bind/named-conf.ts";
import { ifFound } from "../../src/kube/if-found.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { recordOf, recordsIn } from "../../src/kube/record.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { podType } from "../../src/restart/workload-kinds.ts";
import type { RndcKey } from "../../src/rndc/key.ts";
import { memoryFiles } from "../../src/sandbox/named/memory-files.fixture.ts";
import type { Listener } from "../../src/sandbox/named/memory-send.fixture.ts";
import { SandboxNamed } from "../../src/sandbox/named/sandbox-named.ts";

type SecretData = Readonly<Record<string, string>>;

export interface FileKubeletOptions {
  readonly kube: Kube;
  readonly around: { readonly clock: Clock; readonly random: Random };
  readonly namespace: string;
  readonly secretName: string;
  readonly keyName: string;
}

interface RunningNamed {
  readonly name: string;
  readonly host: string;
  readonly named: SandboxNamed;
}

/** Plays the kubelet for pods that mount the published key itself: a named in each, with the key that was there when it started. */
export class FileKubelet {
  /** What the next pods find mounted, where it is not what the Secret holds: a kubelet that is behind. */
  startsWith: SecretData | undefined;
  readonly #options: FileKubeletOptions;
  readonly #pods = new Map<string, RunningNamed>();

  constructor(options: FileKubeletOptions) {
    this.#options = options;
  }

  get running(): readonly { readonly name: string; readonly accepted: readonly RndcKey[] }[] {
    return Array.from(this.#pods.values(), ({ name, named }) => ({ name, accepted: acceptedBy(named) }));
  }

  listenerAt(host: string): Listener {
    return [...this.#pods.values()].find((pod) => pod.host === host)?.named;
  }

  async work(): Promise<void> {
    const { kube, namespace, secretName } = this.#options;
    const { items } = await kube.list(podType, { namespace });
    const uids = new Set(items.map(({ metadata }) => metadata.uid ?? ""));
    for (const uid of this.#pods.keys()) if (!uids.has(uid)) this.#pods.delete(uid);
    const secret = await ifFound(kube.get(secretType, { namespace, name: secretName }));
    if (secret) for (const pod of items.filter((one) => this.#isOurs(one))) this.#start(pod, secret.data as SecretData);
  }

  #isOurs({ spec }: KubeObject): boolean {
    const volumes = recordsIn(recordOf(spec).volumes);
    return volumes.some(({ secret }) => recordOf(secret).secretName === this.#options.secretName);
  }

  #start({ metadata, status }: KubeObject, data: SecretData): void {
    const { uid = "", name } = metadata;
    const { podIP } = recordOf(status);
    if (this.#pods.has(uid) || typeof podIP !== "string") return;
    const { around, secretName, keyName } = this.#options;
    const { clock, random } = around;
    const configPath = `${PATHS.config}/${NAMED_CONF}`;
    const mounted = this.startsWith ?? data;
    const files = new Map([
      [configPath, withoutSixth(namedConf({ recursion: false, keys: { kind: "file", secretName, keyName } }))],
      ...Object.entries(mounted).map(([file, value]) => fileOf(file, value)),
    ]);
    const named = new SandboxNamed({ files: memoryFiles(files), configPath, clock, random });
    this.#pods.set(uid, { name, host: podIP, named });
  }
}

const fileOf = (file: string, value: string): readonly [string, string] => [
  `${PATHS.key}/${file}`,
  Buffer.from(value, "base64").toString(),
];

/** The stand-in has one control channel, where named has one for each family of addresses. */
const withoutSixth = (conf: string): string => conf.replace(/^\tinet :: .*\n/m, "");

function acceptedBy({ config: { controls, keys } }: SandboxNamed): readonly RndcKey[] {
  return (controls?.keyNames ?? []).flatMap((name) => keys.get(name) ?? []);
}
