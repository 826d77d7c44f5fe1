import type { Kube } from "../../src/kube/port.ts";
import type { OpenOptions } from "./browser.ts";
import type { Cast } from "./cast.ts";
import type { Visit } from "./visit.ts";

/** Where stories are played that are the same wherever the page is served: a real server, with a real cluster behind it. */
export interface Scene {
  readonly url: string;
  /** With all rights there are. */
  readonly kube: Kube;
  readonly cast: Cast;
  /** Comes in as somebody who may change things, and has read everything. */
  enter(path?: string, options?: OpenOptions): Promise<Visit>;
}

export type OnScene = () => Scene;
