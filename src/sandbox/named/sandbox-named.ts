import type { Buffer } from "node:buffer";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { ControlData, ControlMessage } from "../../rndc/control-message.ts";
import type { ConfigFiles } from "./config-files.ts";
import { type ControlHost, ControlSession } from "./control-session.ts";
import { dnsAnswer } from "./dns/dns-answer.ts";
import { Zone } from "./dns/zone.ts";
import { parseZoneFile } from "./dns/zone-file.ts";
import { isMatch } from "./match-list.ts";
import { type NamedConfig, readNamedConfig } from "./named-config.ts";
import { NamedFailure, RESULT } from "./named-failure.ts";

/**
 * A stand-in for named: a configuration read from files, a control channel and a few zones with updates. A `reconfig`
 * that fails leaves what was at work at work. Must not: know of sockets; or keep updates beyond its own life, as named
 * does in its journals.
 */
export interface SandboxNamedOptions {
  readonly files: ConfigFiles;
  readonly configPath: string;
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
  readonly log?: (line: string) => void;
  /** `stop` and `halt`, once they are answered. */
  readonly onStop?: () => void;
}

type Outcome = Omit<ControlData, "type">;

/** For so long named knows a message again. */
const REMEMBERED_MS = 900_000;

export class SandboxNamed {
  readonly #options: SandboxNamedOptions;
  readonly #bootedAt: number;
  readonly #zones = new Map<string, Zone>();
  /** What was received, with the instant from which it may be forgotten; the oldest first. */
  readonly #received = new Map<string, number>();
  #config: NamedConfig;
  #configuredAt: number;
  #isLastReloadFailed = false;

  constructor(options: SandboxNamedOptions) {
    this.#options = options;
    this.#bootedAt = options.clock.now();
    this.#configuredAt = this.#bootedAt;
    this.#config = readNamedConfig(options.files, options.configPath);
    this.#loadZones();
  }

  get config(): NamedConfig {
    return this.#config;
  }

  /** What a connection to the control channel talks to; undefined where the address may not connect. */
  controlSession(address: string): ControlSession | undefined {
    const { controls, acls } = this.#config;
    return controls && isMatch(controls.allow, { address }, acls) ? new ControlSession(this.#controlHost()) : undefined;
  }

  answerDns(
    bytes: Uint8Array,
    { address, isUdp }: { readonly address: string; readonly isUdp: boolean },
  ): Buffer | undefined {
    const host = {
      now: () => this.#options.clock.now(),
      keyNamed: (name: string) => this.#config.keys.get(name),
      zoneOf: (name: string) => this.#zoneOf(name),
      mayUpdate: (zone: Zone, keyName: string | undefined) => {
        const updaters = this.#config.zones.get(zone.name)?.updaters ?? [];
        return isMatch(updaters, { address, ...(keyName !== undefined && { keyName }) }, this.#config.acls);
      },
    };
    return dnsAnswer(bytes, host, isUdp);
  }

  #controlHost(): ControlHost {
    const { clock, random } = this.#options;
    return {
      clock,
      random,
      controlKeys: () => {
        const { controls, keys } = this.#config;
        return (controls?.keyNames ?? []).flatMap((name) => keys.get(name) ?? []);
      },
      isNew: (message) => this.#isNew(message),
      run: (command) => this.#run(command),
      log: (line) => this.#log(line),
    };
  }

  #isNew({ serial, sentAt }: ControlMessage): boolean {
    const now = this.#options.clock.now();
    for (const [known, forgottenAt] of this.#received) {
      if (forgottenAt > now) break;
      this.#received.delete(known);
    }
    const id = `${serial} ${sentAt}`;
    if (this.#received.has(id)) return false;
    this.#received.set(id, now + REMEMBERED_MS);
    return true;
  }

  #run(command: string): Outcome {
    const [name = "", ...words] = command.split(/\s+/);
    try {
      const text = this.#carryOut(name.toLowerCase(), words);
      return { result: 0, ...(text !== "" && { text }) };
    } catch (error) {
      if (!(error instanceof NamedFailure)) throw error;
      this.#log(`${name} failed: ${error.message}`);
      return { result: error.result, err: error.err, ...(error.text !== "" && { text: error.text }) };
    }
  }

  #carryOut(name: string, [zone]: readonly string[]): string {
    switch (name) {
      case "null":
        return "";
      case "status":
        return this.#status();
      case "reconfig":
        return this.#reconfigure();
      case "reload":
        return zone === undefined ? this.#reconfigure() || "server reload successful" : this.#reloadZone(zone);
      case "stop":
      case "halt":
        this.#options.onStop?.();
        return "";
      default:
        throw new NamedFailure(RESULT.UNKNOWN_COMMAND, "unknown control channel command");
    }
  }

  #reconfigure(): string {
    const { files, configPath, clock } = this.#options;
    try {
      const config = readNamedConfig(files, configPath);
      this.#checkPlaces(config);
      this.#config = config;
    } catch (error) {
      this.#isLastReloadFailed = true;
      throw error;
    }
    this.#isLastReloadFailed = false;
    this.#configuredAt = clock.now();
    this.#loadZones();
    return "";
  }

  /** named would move to the new address. */
  #checkPlaces({ controls, listenOn }: NamedConfig): void {
    const before = this.#config;
    const isSame =
      controls?.address === before.controls?.address &&
      controls?.port === before.controls?.port &&
      listenOn?.address === before.listenOn?.address &&
      listenOn?.port === before.listenOn?.port;
    if (!isSame) throw new NamedFailure(RESULT.FAILURE, "the stand-in stays where it listens");
  }

  #reloadZone(name: string): string {
    const zone = this.#config.zones.get(name.toLowerCase());
    if (!zone) throw new NamedFailure(RESULT.NOT_FOUND, "no such zone", `no matching zone '${name}' in any view`);
    if (zone.updaters.length > 0) throw new NamedFailure(RESULT.DYNAMIC_ZONE, "a zone with updates is not read again");
    this.#zones.delete(name.toLowerCase());
    this.#loadZones();
    return "zone reload up-to-date";
  }

  /** Zones that are there stay as they are, with all their updates. One that cannot be read is not served. */
  #loadZones(): void {
    for (const name of this.#zones.keys()) if (!this.#config.zones.has(name)) this.#zones.delete(name);
    for (const [name, { file }] of this.#config.zones) {
      if (this.#zones.has(name)) continue;
      const text = this.#options.files.read(file);
      const records = text === undefined ? undefined : parseZoneFile(text, name);
      if (records) this.#zones.set(name, new Zone(name, records));
      else this.#log(`zone ${name}/IN: not loaded due to errors.`);
    }
  }

  #zoneOf(name: string): Zone | undefined {
    const zones = [...this.#zones.values()].filter((zone) => zone.contains(name));
    return zones.sort((a, b) => b.name.length - a.name.length)[0];
  }

  #status(): string {
    return [
      "version: stand-in for BIND 9.18",
      `boot time: ${new Date(this.#bootedAt).toUTCString()}`,
      `last configured: ${new Date(this.#configuredAt).toUTCString()}`,
      `configuration file: ${this.#options.configPath}`,
      `number of zones: ${this.#config.zones.size} (0 automatic)`,
      ...(this.#isLastReloadFailed ? ["reload/reconfig failed"] : []),
      "server is up and running",
    ].join("\n");
  }

  #log(line: string): void {
    this.#options.log?.(line);
  }
}
