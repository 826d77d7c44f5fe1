import { type ChildProcess, spawn } from "node:child_process";

interface Waiting {
  readonly mark: string;
  resolve(printed: string): void;
  reject(error: Error): void;
}

/**
 * A shell in which commands are typed one after another, as a person does: what one sets, the next one has. What a command
 * prints is both of its outputs, in their order.
 */
export class Shell {
  readonly #child: ChildProcess;
  #printed = "";
  #count = 0;
  #waiting: Waiting | undefined;

  constructor(folder: string, environment: Readonly<Record<string, string>>) {
    this.#child = spawn("sh", [], { cwd: folder, env: environment, stdio: ["pipe", "pipe", "pipe"] });
    this.#child.stdout?.on("data", (chunk: Buffer) => this.#heard(chunk));
    this.#child.stderr?.on("data", (chunk: Buffer) => this.#heard(chunk));
    this.#child.on("close", () => this.#waiting?.reject(new Error(`the shell has ended: ${this.#printed}`)));
    this.#child.stdin?.write("exec 2>&1\n");
  }

  /** What it printed, line by line. */
  async run(command: string): Promise<readonly string[]> {
    const mark = `--- end of command ${++this.#count} ---`;
    const printed = await new Promise<string>((resolve, reject) => {
      this.#waiting = { mark, resolve, reject };
      // Nothing that it starts may read what is typed next.
      this.#child.stdin?.write(`{ ${command}\n} </dev/null\nprintf '\\n%s\\n' '${mark}'\n`);
    });
    return printed.split("\n");
  }

  close(): void {
    this.#waiting = undefined;
    this.#child.kill("SIGKILL");
  }

  #heard(chunk: Buffer): void {
    this.#printed += chunk;
    const { mark = "", resolve } = this.#waiting ?? {};
    const end = mark === "" ? -1 : this.#printed.indexOf(`\n${mark}\n`);
    if (end < 0) return;
    const printed = this.#printed.slice(0, end);
    this.#printed = this.#printed.slice(end + mark.length + 2);
    this.#waiting = undefined;
    resolve?.(printed);
  }
}
