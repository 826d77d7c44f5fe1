import { tellActingStories } from "./acting-stories.ts";
import { tellBadInputStories } from "./bad-input-stories.ts";
import { tellConsumersStories } from "./consumers-stories.ts";
import { tellCredentialStories } from "./credential-stories.ts";
import { tellEvidenceStories } from "./evidence-stories.ts";
import { tellLiveStories } from "./live-stories.ts";
import { tellLooksStories } from "./looks-stories.ts";
import { tellOverviewStories } from "./overview-stories.ts";
import type { OnScene } from "./scene.ts";
import { tellStrangersStories } from "./strangers-stories.ts";
import { tellTimelineStories } from "./timeline-stories.ts";

/** One after the other, in this order: those that only look come before those that change something. */
export function tellAllStories(on: OnScene): void {
  tellOverviewStories(on);
  tellTimelineStories(on);
  tellCredentialStories(on);
  tellLiveStories(on);
  tellActingStories(on);
  tellConsumersStories(on);
  tellEvidenceStories(on);
  tellLooksStories(on);
  tellStrangersStories(on);
  tellBadInputStories(on);
}
