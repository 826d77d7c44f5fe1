import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Heap } from "../runtime/idle-heap.ts";

/**
 * What a command is, and all it may know of the outside: handed in by `main.ts`, so that a test can run any command with
 * a world of its own. Must not: read process globals.
 */
export interface Command {
  readonly name: string;
  /** Other words for it that people may try. */
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** Paragraphs for `--help`. */
  readonly description?: string;
  /** The words it takes besides flags, as the help shows them, and how many at most; absent: none. */
  readonly words?: {
    readonly usage: string;
    readonly max: number;
    /** What the first of them can be, where that can be listed; for completion. */
    readonly first?: readonly string[];
  };
  readonly options: readonly OptionSpec[];
  /** What else than an error it ends with 1 for; absent: nothing. */
  readonly failsWhen?: string;
  /** Whether Ctrl-C ends it before it is done; what runs until it is stopped ends with 0 then. */
  readonly isInterruptible?: true;
  readonly examples?: readonly { readonly command: string; readonly what: string }[];
  run(flags: Flags, world: World): Promise<ExitCode>;
}

export type ExitCode = number;

/** What every command ends with, and when. */
export const EXIT_CODES: Readonly<Record<"done" | "failed" | "wrong" | "interrupted", ExitCode>> = {
  done: 0,
  failed: 1,
  wrong: 2,
  interrupted: 130,
};

export interface OptionSpec {
  readonly name: string;
  readonly short?: string;
  /** What the value is called in the help; absent for switches. */
  readonly value?: string;
  readonly description: string;
  /** Shown in the help; the text that is used when the flag is absent. */
  readonly default?: string;
  /** The values there are, where they can be listed; for completion. */
  readonly choices?: readonly string[];
  /** A switch that is on by default and turned off with `--no-<name>`. */
  readonly isOnByDefault?: boolean;
}

/** The flags of one call, checked against the command's options. */
export interface Flags {
  /** What was given besides flags. */
  readonly words: readonly string[];
  /** The value; of a flag that was given several times, the last one. */
  text(name: string): string | undefined;
  /** All values of a flag, in the order in which they were given. */
  texts(name: string): readonly string[];
  isOn(name: string): boolean;
}

export interface World {
  readonly clock: Clock;
  readonly random: Random;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  readonly homeDirectory: string;
  readonly hostName: string;
  readonly processId: number;
  readonly version: string;
  /** Of Node, without a `v`. */
  readonly nodeVersion: string;
  /** There where Node was started with `--expose-gc`. */
  readonly heap?: Heap | undefined;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Calls back for each request to stop (Ctrl-C, SIGTERM). */
  onStop(callback: (signal: string) => void): void;
}

export interface Input {
  readonly isTerminal: boolean;
  /** The next line without its end; undefined when nothing more comes. */
  readLine(): Promise<string | undefined>;
  readAll(): Promise<string>;
}

export interface Output {
  write(text: string): void;
  /** What need not be there at once, and may go out with what comes a moment later. */
  writeSoon?(text: string): void;
  readonly isTerminal: boolean;
  /** How many characters fit into a line, where that is known. */
  readonly columns?: number | undefined;
}
