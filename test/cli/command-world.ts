import type { Clock } from "../../src/base/clock.ts";
import { settle } from "../../src/base/manual-clock.ts";
import { type Random, seededRandom } from "../../src/base/random.ts";
import { auditCommand, runAudit } from "../../src/cli/audit-command.ts";
import type { Command, ExitCode } from "../../src/cli/command.ts";
import { complianceCommand, runCompliance } from "../../src/cli/compliance-command.ts";
import { consumersCommand, runConsumers } from "../../src/cli/consumers-command.ts";
import { credentialsCommand, runCredentials } from "../../src/cli/credentials-command.ts";
import { explainCommand, runExplain } from "../../src/cli/explain-command.ts";
import { freezeCommand, runFreeze, unfreezeCommand } from "../../src/cli/freeze-command.ts";
import { importCommand, runImport } from "../../src/cli/import-command.ts";
import type { ClusterCall } from "../../src/cli/open-cluster.ts";
import { parseFlags } from "../../src/cli/parse-flags.ts";
import { rotateCommand, runRotate } from "../../src/cli/rotate-command.ts";
import { scriptedWorld } from "../../src/cli/scripted-world.fixture.ts";
import { runStatus, statusCommand } from "../../src/cli/status-command.ts";
import type { Kube } from "../../src/kube/port.ts";
import { BtpWorld } from "../reconcile/btp-world.ts";

const COMMANDS: Readonly<Record<string, readonly [Command, (call: ClusterCall) => Promise<ExitCode>]>> = {
  audit: [auditCommand, runAudit],
  compliance: [complianceCommand, runCompliance],
  status: [statusCommand, runStatus],
  explain: [explainCommand, runExplain],
  consumers: [consumersCommand, runConsumers],
  import: [importCommand, runImport],
  credentials: [credentialsCommand, runCredentials],
  rotate: [rotateCommand, runRotate],
  freeze: [freezeCommand, (call) => runFreeze(call, true)],
  unfreeze: [unfreezeCommand, (call) => runFreeze(call, false)],
};

export interface Said {
  readonly code: ExitCode;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that may still be running. */
export interface Running {
  readonly said: { stdout: string; stderr: string };
  readonly ended: Promise<ExitCode>;
  interrupt(): void;
}

/** What differs from a command in a script. */
export interface Circumstances {
  /** What a person at a terminal types; without it there is no terminal. */
  readonly answer?: string;
  /** Another way to the cluster. */
  readonly kube?: Kube;
}

/** Where a command is run. */
export interface Place {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random?: Random;
}

/** `keyturn ...` in the test's own process, on any cluster; the context's namespace is `default`. */
export function beginOn({ kube, clock, random }: Place, words: readonly string[], answer?: string): Running {
  const [name = "", ...rest] = words;
  const found = COMMANDS[name];
  if (!found) throw new Error(`there is no command ${name}`);
  const [command, runOn] = found;
  const { world, said, signal } = scriptedWorld({ clock, ...(random && { random }), answer });
  const ended = runOn({ kube, namespace: "default", flags: parseFlags(command, rest), world });
  return { said, ended, interrupt: () => signal("SIGINT") };
}

export async function runOn(place: Place, words: readonly string[], answer?: string): Promise<Said> {
  const { said, ended } = beginOn(place, words, answer);
  return { code: await ended, ...said };
}

/** Commands in the test's own process, on the cluster and the clock of a `BtpWorld`. */
export class CommandWorld {
  readonly btp = new BtpWorld();
  readonly #random = seededRandom(11);

  /** With these bindings, each with its first key. */
  static async start(...bindings: readonly string[]): Promise<CommandWorld> {
    const world = new CommandWorld();
    await world.btp.start();
    for (const name of bindings) {
      await world.btp.create(name);
      await world.btp.reconcile(name);
    }
    return world;
  }

  /** `keyturn ...` */
  begin(words: readonly string[], { answer, kube = this.btp.kube }: Circumstances = {}): Running {
    return beginOn({ kube, clock: this.btp.clock, random: this.#random }, words, answer);
  }

  async run(words: readonly string[], circumstances?: Circumstances): Promise<Said> {
    const { said, ended } = this.begin(words, circumstances);
    return { code: await ended, ...said };
  }

  /** Runs it while the operator works on these bindings, as often as time is given to it. */
  async runBeside(words: readonly string[], bindings: readonly string[], seconds = 5): Promise<Said> {
    const { said, ended } = this.begin(words);
    let isOver = false;
    const over = ended.finally(() => {
      isOver = true;
    });
    over.catch(() => {});
    for (let second = 0; second < seconds && !isOver; second++) {
      await this.btp.clock.advance(1000);
      for (const name of bindings) await this.btp.reconcile(name).catch(() => {});
      await settle();
    }
    return { code: await over, ...said };
  }
}
