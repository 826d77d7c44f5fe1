import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { whyNoBrowser } from "./chromium.ts";
import { assertSound, axeFindings, useStage } from "./stage.ts";

/** Every page, at every size, light and dark: nothing breaks, nobody else is asked, and axe-core finds nothing. */
const SIZES = { wide: [1440, 900], middling: [1024, 768], narrow: [390, 844] } as const;

describe("every page", { skip: whyNoBrowser() ?? false }, () => {
  const stage = useStage();

  for (const [size, [width, height]] of Object.entries(SIZES)) {
    // Between the two others: the colours are the same.
    for (const colorScheme of size === "middling" ? (["light"] as const) : (["light", "dark"] as const)) {
      it(`is sound and accessible: ${size}, ${colorScheme}`, async () => {
        const server = await stage.serve({ count: 120, isNasty: true });
        const [first] = server.world.credentials.values();
        const watched = await stage.enter(server, "/", { viewport: { width, height }, colorScheme });
        const { page } = watched;
        const places = [
          ["/", "h1"],
          ["/timeline", ".track"],
          ["/timeline?span=1h&q=lively", ".track"],
          ["/timeline?q=nobody-is-called-this", ".empty"],
          ["/credentials", ".credentials .name"],
          [`/credential/${first?.row.id}`, ".chart .track"],
          ["/credential/ServiceBinding/none", ".notice"],
          ["/consumers", "#workloads"],
          [`/consumers/${first?.row.secret}`, "table"],
          ["/evidence?maxPeriod=30d", "table.report"],
          ["/nowhere", "h1"],
        ] as const;
        const found: string[] = [];
        for (const [path, shown] of places) {
          await page.goto(`${server.url}${path}`);
          await page.locator(shown).first().waitFor();
          await page.locator(".connection", { hasText: "Live" }).waitFor();
          found.push(...(await axeFindings(page)).map((finding) => `${path}: ${finding}`));
          const isTooWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
          if (isTooWide) found.push(`${path} is wider than the screen`);
        }
        assert.deepEqual(found, []);
        assertSound(watched, server);
        await watched.context.close();
      });
    }
  }
});
