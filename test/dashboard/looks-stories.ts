import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { eventually } from "../support/eventually.ts";
import type { Cast } from "./cast.ts";
import type { OnScene } from "./scene.ts";

/** Each page, and what is there once it has been drawn. */
const placesOf = ({ id, secret, broken }: Cast): readonly (readonly [path: string, shown: string])[] => [
  ["/", ".overview .figures"],
  ["/timeline", ".track"],
  ["/credentials", ".credentials .name"],
  [`/credential/${id}`, ".chart .track"],
  [`/credential/ServiceBinding/${broken}`, ".notice"],
  ["/credential/ServiceBinding/nobody", ".notice"],
  ["/consumers?namespace=play", "#workloads"],
  [`/consumers/${secret}`, "table"],
  ["/evidence", "table.report"],
  ["/nowhere", "h1"],
];

const brightness = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const [red = 0, green = 0, blue = 0] = (
      getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g) ?? []
    ).map(Number);
    return (red + green + blue) / 3;
  });

/** Small and dark, where all other stories are told of a large screen by daylight; and that what is forbidden is noticed. */
export function tellLooksStories(on: OnScene): void {
  test("every page is sound and accessible where it is narrow and dark", async () => {
    const visit = await on().enter("/", { colorScheme: "dark", viewport: { width: 390, height: 844 } });
    const { page } = visit;
    assert.ok((await brightness(page)) < 100, "it is dark");
    for (const [path, shown] of placesOf(on().cast)) {
      await visit.open(path);
      await page.locator(shown).first().waitFor();
      await visit.look();
      const isTooWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.equal(isTooWide, false, `${path} is wider than the screen`);
    }
    await page.emulateMedia({ colorScheme: "light" });
    assert.ok((await brightness(page)) > 200, "it follows the system");
    await visit.leave();
  });

  test("what the policy of the page forbids does not happen, and is noticed here", async () => {
    const visit = await on().enter("/");
    const { page, watched } = visit;
    for (const [directive, attempt] of FORBIDDEN) {
      await page.evaluate(attempt).catch(() => {});
      await eventually(
        `a complaint of ${directive}`,
        async () => watched.complaints.some((line) => line.startsWith(`policy: ${directive}`)) || undefined,
        5000,
      );
    }
    await assert.rejects(visit.assertSound(), { name: "AssertionError" });
    visit.assertAlone();
    await visit.abandon();
  });

  test("key material on the page, and the use of a mouse, would be noticed here", async () => {
    const { kube, cast } = on();
    const visit = await on().enter("/nowhere");
    await visit.look();
    const [namespace = "", name = ""] = cast.secret.split("/");
    const { data } = (await kube.get(secretType, { namespace, name })) as {
      readonly data?: Readonly<Record<string, string>>;
    };
    const words = [data?.password ?? "", Buffer.from(data?.username ?? "", "base64").toString()];
    for (const word of words) {
      assert.ok(word.length >= 16);
      await visit.page.evaluate((text) => document.querySelector("main p")?.setAttribute("title", text), word);
      await assert.rejects(visit.look(), /key material was seen/);
    }
    await visit.page.mouse.click(5, 5);
    await eventually(
      "a complaint",
      async () => visit.watched.complaints.includes("a pointer was pressed") || undefined,
    );
    await visit.abandon();
  });
}

/** What a script that got into the page could try. */
const FORBIDDEN: readonly (readonly [directive: string, attempt: () => void])[] = [
  [
    "style-src-elem",
    () => document.head.append(Object.assign(document.createElement("style"), { textContent: "body{display:none}" })),
  ],
  ["style-src-attr", () => document.body.setAttribute("style", "display: none")],
  [
    "img-src",
    () => {
      new Image().src = "http://elsewhere.invalid/seen.png";
    },
  ],
  ["connect-src", () => void fetch("http://elsewhere.invalid/seen").catch(() => {})],
  [
    "require-trusted-types-for",
    () => {
      document.body.innerHTML += "<b>bold</b>";
    },
  ],
];
