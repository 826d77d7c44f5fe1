import { whyNoBrowser } from "../test/dashboard/chromium.ts";
import { longTests } from "./long-tests.ts";

/** What `npm test` leaves out because it needs more than the checkout or much time, each with the command that tests it. */
export interface MissingPart {
  readonly what: string;
  readonly command: string;
}

export async function missingParts(): Promise<readonly MissingPart[]> {
  const noBrowser = whyNoBrowser();
  return [
    ...(noBrowser === undefined
      ? []
      : [{ what: `Stories of the dashboard in a browser: ${noBrowser}.`, command: "npm run test:dashboard" }]),
    {
      what: "The same conformance, operator, rotation, restart, BIND and Korifi suites on a real control plane (needs Go 1.26; builds once, about 5 minutes).",
      command: "npm run test:cluster",
    },
    {
      what: "What the image holds, the operator from it on a read-only root, and the SBOM (needs a registry of npm, or its cache).",
      command: "npm run test:image",
    },
    {
      what: `${longTests.length} files that take long: deaths at every write, many resources at a time, stories with many processes, and those of the dashboard in a browser.`,
      command: "npm run test:cluster -- --only long",
    },
  ];
}
