import type { AppliedSource, SourceId } from "./model.ts";
import { isSourceId } from "./source-id.ts";

/** `<prefix>/digests` of a pod template: `sourceId=digest`, sorted, joined by commas; none of the three is in a name. */
export const digestsText = (sources: ReadonlyMap<SourceId, Pick<AppliedSource, "digest">>): string =>
  [...sources]
    .map(([source, { digest }]) => `${source}=${digest}`)
    .sort()
    .join(",");

/** What a pod says that it runs on; parts that cannot be read are left out. */
export function readDigestsText(text: string | undefined): ReadonlyMap<SourceId, string> {
  const digests = new Map<SourceId, string>();
  for (const part of (text ?? "").split(",")) {
    const [source = "", digest = ""] = part.split("=");
    if (isSourceId(source) && digest !== "") digests.set(source, digest);
  }
  return digests;
}
