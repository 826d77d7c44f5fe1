import { bareStories } from "./bare-stories.ts";
import { broughtStories } from "./brought-stories.ts";
import { classStories } from "./class-stories.ts";
import { keyStories } from "./key-stories.ts";
import { crashStories, onceStories, revertStories } from "./once-stories.ts";
import { optInStories } from "./opt-in-stories.ts";
import { paceStories } from "./pace-stories.ts";
import { reloaderClassStories } from "./reloader-class-stories.ts";
import { fieldStories, pausePeriodStories, reloaderStories } from "./reloader-stories.ts";
import type { ClockedStage, Story } from "./restart-stage.ts";
import { againStories } from "./revert-stories.ts";

/** By what they are about. Those that need no clock of their own can be told on any server. */
export const allStories: Readonly<Record<string, readonly Story<ClockedStage>[]>> = {
  "who takes part": optInStories,
  "once for a change": onceStories,
  "what others roll out": broughtStories,
  "what others revert": [...revertStories, ...againStories],
  "an operator that dies": crashStories,
  "whose key it is": keyStories,
  "how they are spread": paceStories,
  "pods that nobody rolls": bareStories,
  "what the Secrets Store rotates": classStories,
  "what the field does badly": fieldStories,
  "people who come from Reloader": [...reloaderStories, ...reloaderClassStories, ...pausePeriodStories],
};
