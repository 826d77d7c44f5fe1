import type { BindScene } from "./bind-scene.ts";
import type { BindStage } from "./bind-stage.ts";

/** Told on both servers, side by side with the others; the guard sees to it that nobody is locked out meanwhile. */
export interface BindStory {
  readonly title: string;
  /** What its namespace begins with. */
  readonly name: string;
  /** Told on a real server alone: it has pods that run no named. */
  readonly isReal?: true;
  run(scene: BindScene, stage: BindStage): Promise<void>;
}

export const story = (name: string, title: string, run: BindStory["run"]): BindStory => ({ name, title, run });
