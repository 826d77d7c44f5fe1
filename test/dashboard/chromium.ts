import { existsSync } from "node:fs";

/** The browser of the machine. */
export const CHROMIUM: string = process.env.KEYTURN_TEST_CHROMIUM ?? "/usr/bin/chromium";

/** Why stories cannot be tried here; undefined where they can. */
export const whyNoBrowser = (): string | undefined =>
  existsSync(CHROMIUM)
    ? undefined
    : `there is no chromium at ${CHROMIUM} (Debian: apt install chromium; or name one in KEYTURN_TEST_CHROMIUM)`;
