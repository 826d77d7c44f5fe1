import { RndcDialogue } from "../../rndc/dialogue.ts";
import { RndcRefused, RndcTimeout, RndcUnreachable } from "../../rndc/errors.ts";
import type { CommandOptions, sendCommand } from "../../rndc/send-command.ts";
import type { SandboxNamed } from "./sandbox-named.ts";

/** Who listens there: nobody, somebody who never answers, or a stand-in. */
export type Listener = SandboxNamed | "silent" | undefined;

/** Commands to stand-ins in the same process, by their hosts; they fail as over a connection. */
export function memorySend(listenerAt: (host: string) => Listener): typeof sendCommand {
  return async (options) => {
    const listener = listenerAt(options.host);
    if (options.signal?.aborted || listener === undefined) {
      throw new RndcUnreachable(`${options.host} cannot be reached: ECONNREFUSED`);
    }
    if (listener === "silent") return silence(options);
    const { key, command, clock, random } = options;
    const session = listener.controlSession("10.0.0.1");
    const dialogue = new RndcDialogue({ key, command, clock, random });
    let answer = session?.receive(dialogue.open());
    for (;;) {
      if (!answer) throw new RndcRefused(`${options.host} hung up`, { mayHaveRun: dialogue.isCommandSent });
      const step = dialogue.receive(answer);
      if (step.kind === "done") return step.reply;
      answer = session?.receive(step.message);
    }
  };
}

function silence({ clock, timeoutMs, signal, host }: CommandOptions): Promise<never> {
  return new Promise((_, reject) => {
    const timer = clock.setTimer(() => reject(new RndcTimeout(`${host} gave no answer in ${timeoutMs} ms`)), timeoutMs);
    signal?.addEventListener("abort", () => {
      timer.cancel();
      reject(new RndcUnreachable(`${host} was given up on`));
    });
  });
}
