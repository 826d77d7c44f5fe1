import { Buffer } from "node:buffer";
import type { Clock } from "../../src/base/clock.ts";
import type { Random } from "../../src/base/random.ts";
import { NAMED_CONF, namedConf, PATHS } from "../../src/bind/named-conf.ts";
import type { RndcKey } from "../../src/rndc/key.ts";
import { memoryFiles } from "../../src/sandbox/named/memory-files.fixture.ts";
import { SandboxNamed } from "../../src/sandbox/named/sandbox-named.ts";

/** The data of a Secret, as the API has it. */
export type SecretData = Readonly<Record<string, string>>;

/** A pod's named on a mounted ring, which is what it was until a kubelet puts another one there. */
export class MountedNamed {
  readonly #files = new Map<string, string>();
  readonly named: SandboxNamed;

  constructor(ring: SecretData, { clock, random }: { readonly clock: Clock; readonly random: Random }) {
    const path = `${PATHS.config}/${NAMED_CONF}`;
    this.#files.set(path, namedConf({ recursion: false, keys: { kind: "ring", secretName: "", ringName: "" } }));
    this.mount(ring);
    this.named = new SandboxNamed({ files: memoryFiles(this.#files), configPath: path, clock, random });
  }

  /** All files at once. The stand-in has one control channel, where named has one for each family of addresses. */
  mount(ring: SecretData): void {
    for (const [name, value] of Object.entries(ring)) {
      const text = Buffer.from(value, "base64")
        .toString()
        .replace(/^\tinet :: .*\n/m, "");
      this.#files.set(`${PATHS.ring}/${name}`, text);
    }
  }

  /** The keys that it accepts commands with now. */
  get accepted(): readonly RndcKey[] {
    const { controls, keys } = this.named.config;
    return (controls?.keyNames ?? []).flatMap((name) => keys.get(name) ?? []);
  }
}
