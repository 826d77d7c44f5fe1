import type { Browser } from "playwright-core";
import type { Kube } from "../../src/kube/port.ts";
import { freePort } from "../../src/sandbox/named/loopback-address.ts";
import { ensureDashboard } from "../../tools/dashboard-build.ts";
import { connect } from "../support/connect.ts";
import { eventually } from "../support/eventually.ts";
import { type KeyturnUp, startKeyturnUp } from "../support/keyturn-up.ts";
import { SandboxClient } from "../support/sandbox-client.ts";
import { scratchFolder } from "../support/scratch-folder.ts";
import { type OpenOptions, openBrowser } from "./browser.ts";
import { Cast } from "./cast.ts";
import { KeyMaterial } from "./key-material.ts";
import type { Scene } from "./scene.ts";
import { Visit } from "./visit.ts";

interface Parts {
  readonly running: { up: KeyturnUp; readonly start: () => Promise<KeyturnUp> };
  readonly browser: Browser;
  readonly kube: Kube;
  readonly material: KeyMaterial;
  readonly cast: Cast;
  readonly ends: AsyncDisposableStack;
}

/** What `npm start` starts, with the examples that it brings, and the cast of the stories beside them. */
export class StartScene implements Scene {
  readonly url: string;
  readonly kube: Kube;
  readonly cast: Cast;
  readonly #parts: Parts;
  readonly #used = new Set<string>();

  static async open(ends: AsyncDisposableStack): Promise<StartScene> {
    await ensureDashboard();
    const dataDirectory = scratchFolder();
    // One that stays, so that a page finds the next one at the same address.
    const flags = ["--dashboard-port", String(await freePort("127.0.0.1"))];
    const start = (): Promise<KeyturnUp> => startKeyturnUp({ dataDirectory, flags });
    const running = { up: await start(), start };
    ends.defer(async () => void (await running.up.stop("SIGTERM")));
    const { ready } = running.up;
    const kube = await connect(ready.kubeconfig);
    ends.defer(() => kube.close());
    const material = await KeyMaterial.watch(kube);
    ends.defer(() => material.stop());
    const browser = await openBrowser();
    ends.defer(() => browser.close());
    const cast = new Cast({ kube, sandbox: new SandboxClient(ready.sandbox), config: "default" });
    await cast.enter();
    return new StartScene({ running, browser, kube, material, cast, ends });
  }

  private constructor(parts: Parts) {
    this.url = parts.running.up.ready.dashboard?.url ?? "";
    this.kube = parts.kube;
    this.cast = parts.cast;
    this.#parts = parts;
  }

  /** All that was printed since the latest start. */
  get printed(): string {
    return this.#parts.running.up.output().stdout;
  }

  async enter(path = "/", options: OpenOptions = {}): Promise<Visit> {
    const visit = await this.arrive(options);
    await this.follow(visit, path);
    await visit.live();
    return visit;
  }

  /** Somebody who has not gone anywhere yet. */
  arrive(options: OpenOptions = {}): Promise<Visit> {
    return Visit.begin({ ...this.#parts, url: this.url }, options);
  }

  /** By the link that the terminal shows, or its like for another place. */
  async follow({ page }: Visit, path: string): Promise<void> {
    const [origin, hash] = (await this.link()).split("/#");
    await page.goto(`${origin}${path}#${hash}`);
  }

  /** The latest that was printed; each works once, and then there is another one. */
  async link(): Promise<string> {
    const link = await eventually("a link that nobody has used", async () => {
      const last = [...this.printed.matchAll(/http:\S+\/#token=\S+/g)].at(-1)?.[0];
      return last === undefined || this.#used.has(last) ? undefined : last;
    });
    this.#used.add(link);
    return link;
  }

  /** As with Ctrl-C. */
  async stop(): Promise<void> {
    await this.#parts.running.up.stop("SIGINT");
  }

  /** Goes on from where it was stopped. */
  async start(): Promise<void> {
    const { running } = this.#parts;
    running.up = await running.start();
  }
}
