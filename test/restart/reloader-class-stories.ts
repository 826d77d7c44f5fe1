import { mount } from "./pod-status-objects.ts";
import { type Story, story } from "./restart-stage.ts";
import { classVolume, podSpec, Shop } from "./shop.ts";

const RELOADER = { reloader: true };
const CLASS = "secretproviderclass.reloader.stakater.com";
const AUTO = "reloader.stakater.com/auto";

type Row = readonly [own: Readonly<Record<string, string>>, isRestarted: boolean, reason: string];

/** Whether what the driver has rotated of the class `vault`, which is mounted, leads to a restart. */
const ROWS: readonly Row[] = [
  [{ [AUTO]: "true" }, true, "all that is used"],
  [{ [`${CLASS}/auto`]: "true" }, true, "classes"],
  [{ "secret.reloader.stakater.com/auto": "true" }, false, "Secrets"],
  [{ [`${CLASS}/reload`]: "cloud,vault" }, true, "by name"],
  [{ [`${CLASS}/reload`]: "va.*t" }, true, "by a pattern"],
  [{ [`${CLASS}/reload`]: "cloud.*" }, false, "by a pattern that stands for others"],
  [
    { [AUTO]: "true", "secretproviderclasses.exclude.reloader.stakater.com/reload": "vault" },
    false,
    "all that is used but for this",
  ],
  [{ "reloader.stakater.com/search": "true" }, false, "what says match, which classes are not asked for"],
];

/** The annotations of Reloader about what the Secrets Store rotates. */
export const reloaderClassStories: readonly Story[] = ROWS.map(([own, isRestarted, reason]) =>
  story(
    `Reloader's annotations about classes: ${JSON.stringify(own)} (${reason})`,
    async (stage) => {
      const shop = new Shop(stage);
      await shop.workload("web", { own, template: {}, pod: podSpec(classVolume("vault")) });
      await stage.calm();
      const pods = await shop.complete("web", 2);
      for (const pod of pods) await mount(stage.kube, pod, "vault", { key: "v1" });
      await stage.calm();
      for (const pod of pods) await mount(stage.kube, pod, "vault", { key: "v2" });
      if (isRestarted) await shop.rolled("web", 1);
      await shop.staysAt("web", isRestarted ? 1 : 0);
    },
    RELOADER,
  ),
);
