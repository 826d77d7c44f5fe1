import type { KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import type { RestartSettings } from "../../src/reconcile/restart/restart-settings.ts";

/**
 * Where stories about restarts are told: a namespace of its own for each, a restart controller at work in it, and a way to
 * let time pass. The embedded server with a clock that is moved by hand is one such place; a real control plane, where
 * time passes by itself, is another. A story knows neither.
 */
export interface RestartStage {
  readonly kube: Kube;
  readonly namespace: string;
  /** Stops the operator and starts another one: nothing of its memory is left. */
  restartOperator(): Promise<void>;
  /** Nobody is at work. */
  stopOperator(): Promise<void>;
  startOperator(): Promise<void>;
  /** Another operator beside the first, which does not know of it; what it writes arrives late by these, in turns. */
  addOperator(lateMs?: readonly number[]): Promise<void>;
  /** Until the check holds; `what` says in the failure what was waited for. */
  until(what: string, check: () => Promise<boolean>): Promise<void>;
  /** Time passes, and things may happen. */
  pause(ms: number): Promise<void>;
  /** As long as anything that was set going may take to have an effect, and so long again. */
  calm(): Promise<void>;
}

/** A stage whose time is in the hands of the story, and whose operator can be seen from the inside. */
export interface ClockedStage extends RestartStage {
  advance(ms: number): Promise<void>;
  now(): number;
  /** Requests of the operator since the last look, watches left out, as `METHOD resource`. */
  traffic(): readonly string[];
  /** The operator dies at its nth write from now on, before or after it is done. */
  killAt(write: number, side: "before" | "after"): void;
  readonly isDead: boolean;
  /** Another operator, which keeps the key of its digests elsewhere. */
  addForeignOperator(namespace: string): Promise<void>;
  /** The one that came last is gone. */
  stopNewest(): Promise<void>;
  metric(series: string): Promise<string | undefined>;
}

export interface Story<S extends RestartStage = RestartStage> {
  readonly title: string;
  readonly settings?: Partial<RestartSettings>;
  /** It can be told only where time is in its own hands. */
  readonly needsClock?: true;
  /** It is about several namespaces. */
  readonly isWide?: true;
  run(stage: S): Promise<void>;
}

export const story = (title: string, run: Story["run"], settings?: Partial<RestartSettings>): Story => ({
  title,
  run,
  ...(settings && { settings }),
});

export const clockedStory = (
  title: string,
  run: Story<ClockedStage>["run"],
  settings?: Partial<RestartSettings>,
): Story<ClockedStage> => ({ title, run, needsClock: true, ...(settings && { settings }) });

export type Fields = Readonly<Record<string, unknown>>;

export const fields = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};

export const annotationsIn = ({ metadata }: Pick<KubeObject, "metadata">): Readonly<Record<string, string>> =>
  metadata.annotations ?? {};
