import { UsageError } from "../base/errors.ts";
import type { Command } from "./command.ts";
import { bashScript, kubectlScript } from "./completion/bash-script.ts";
import { type CompletedCommand, completionModel } from "./completion/completion-model.ts";
import { fishScript } from "./completion/fish-script.ts";
import { zshScript } from "./completion/zsh-script.ts";

const SCRIPTS: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  kubectl: kubectlScript,
};

const shells = Object.keys(SCRIPTS);

/** Of whatever commands there are, itself included: the table is asked for when it is whole. */
export const completionCommand = (commands: () => readonly Command[]): Command => ({
  name: "completion",
  summary: "Print a script with which a shell completes commands, flags and their values.",
  description:
    "kubectl completes plugins in every shell that it knows: it runs kubectl_complete-keyturn, which is what the fourth\nscript is for.",
  words: { usage: shells.join("|"), max: 1, first: shells },
  options: [],
  examples: [
    { command: "source <(keyturn completion bash)", what: "In this bash; in ~/.bashrc: in every one" },
    { command: 'keyturn completion zsh > "$fpath[1]/_keyturn"', what: "In every zsh from now on" },
    { command: "keyturn completion fish > ~/.config/fish/completions/keyturn.fish", what: "In every fish" },
    {
      command: "keyturn completion kubectl > ~/bin/kubectl_complete-keyturn; chmod +x ~/bin/kubectl_complete-keyturn",
      what: "For kubectl keyturn, where ~/bin is on the PATH",
    },
  ],
  run: async ({ words: [shell] }, world) => {
    const script = SCRIPTS[shell ?? ""];
    if (!script) {
      throw new UsageError(
        shell === undefined
          ? `for which shell? keyturn completion ${shells.join("|")}`
          : `"${shell}" is not one of ${shells.join(", ")}`,
      );
    }
    world.stdout.write(script(completionModel(commands())));
    return 0;
  },
});
