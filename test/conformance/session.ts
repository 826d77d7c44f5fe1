import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { seededRandom } from "../../src/base/random.ts";
import type { ResourceType } from "../../src/kube/objects.ts";
import type { RunningTarget, Target } from "../support/target.ts";
import { type Connection, connect } from "./connect.ts";
import { World, type WorldOptions } from "./world.ts";

/** One run of the suite against a started server: gives out worlds, and takes everything away at the end. */
export class Session {
  readonly #running: RunningTarget;
  readonly #connection: Connection;
  readonly #home: string;
  readonly #options: WorldOptions;

  static async start(target: Target, seed: number): Promise<Session> {
    const running = await target.start();
    const home = await mkdtemp(path.join(tmpdir(), "keyturn-conformance-"));
    const connection = await connect(running.kubeconfig);
    const options: WorldOptions = {
      kube: connection.kube,
      wire: connection.wire,
      stranger: connection.stranger,
      random: seededRandom(seed),
      ...(target.kubectl && { kubectl: { command: target.kubectl, env: kubectlEnvironment(running, home) } }),
      sharedKinds: new Map<string, Promise<ResourceType>>(),
      made: [],
    };
    return new Session(running, connection, home, options);
  }

  private constructor(running: RunningTarget, connection: Connection, home: string, options: WorldOptions) {
    this.#running = running;
    this.#connection = connection;
    this.#home = home;
    this.#options = options;
  }

  world(): World {
    return new World(this.#options);
  }

  async end(): Promise<void> {
    try {
      const deletions = this.#options.made.map(({ type, name }) => this.#connection.kube.delete(type, { name }));
      // Some were deleted by their behaviour, which is as good.
      await Promise.allSettled(deletions);
    } finally {
      await this.#connection.close();
      await rm(this.#home, { recursive: true, force: true });
      await this.#running.stop();
    }
  }
}

/** Nothing of the person's own kubectl set-up may leak in, nor a discovery cache of another server out. */
function kubectlEnvironment(running: RunningTarget, home: string): Readonly<Record<string, string>> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: home,
    KUBECONFIG: running.kubeconfig,
    KUBECACHEDIR: path.join(home, "cache"),
  };
}
