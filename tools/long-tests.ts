import { globSync } from "node:fs";
import { root } from "./run.ts";

const BROWSER_STORIES = "test/dashboard/{acting,live,pages,past,way-in,start,command-browser,operator-browser}.test.ts";

/**
 * Tests that need nothing but this checkout and take long: every point at which a process may die, many resources at a time,
 * the stories of both servers that start many processes, on the embedded one, and those of the dashboard in a browser.
 * `npm run test:cluster` runs them, and `npm test` those that are named to it.
 */
export const longTests: readonly string[] = globSync(
  [
    "test/reconcile/{*-crash,rndc-key-restart,rndc-key,references,rotating-resource*,korifi-app-troubles}.test.ts",
    "test/rotation/{document,requests,drift,departure,outage,after-consumers,any-after-consumers,changes,restore}.test.ts",
    "test/import/*-crash.test.ts",
    "test/rotation-load/{cost,failing-broker,rotation-load,slow-foundation,starts}.test.ts",
    "test/restart-load/*.test.ts",
    "test/kill/*.test.ts",
    "test/simulation/mutants.test.ts",
    "test/restart/{restart,rights}.test.ts",
    "test/korifi/{korifi,upgrade}.test.ts",
    "test/import/*.test.ts",
    "test/install/{check,uninstall,uninstall-crash,uninstall-scenarios}.test.ts",
    "test/docs/tutorials-run.test.ts",
    "test/rights/{rotating-resource,scoped-namespaces}.test.ts",
    BROWSER_STORIES,
  ],
  { cwd: root },
).sort();

/** Those that need the page to be built, and a browser. */
export const browserStories: readonly string[] = globSync(BROWSER_STORIES, { cwd: root });
