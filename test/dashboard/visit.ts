import assert from "node:assert/strict";
import type { Browser, Page } from "playwright-core";
import { type Between, openBetween } from "./between.ts";
import { type OpenOptions, openPage, type WatchedPage } from "./browser.ts";
import type { KeyMaterial } from "./key-material.ts";
import { Keyboard } from "./keyboard.ts";
import { assertSound, axeFindings } from "./stage.ts";

/** What a browser asks for by itself where somebody types into a field, whatever the page. It gets no answer. */
const OF_THE_BROWSER: ReadonlySet<string> = new Set(["content-autofill.googleapis.com:443"]);

/** Where people come to. */
export interface VisitedPlace {
  readonly browser: Browser;
  /** Where the page is served. */
  readonly url: string;
  readonly material: KeyMaterial;
  /** For those who have not left by then. */
  readonly ends: AsyncDisposableStack;
}

/**
 * Somebody at the page of a real server, with keys alone. What nobody may see, and what nothing may do, is looked for all
 * along, and once more when they leave: errors, what the page's policy forbids, other hosts, key material.
 */
export class Visit {
  readonly page: Page;
  readonly keys: Keyboard;
  readonly between: Between;
  readonly url: string;
  readonly watched: WatchedPage;
  readonly #material: KeyMaterial;
  #hasLeft = false;

  /** Somebody who has not gone anywhere yet. */
  static async begin(place: VisitedPlace, options: OpenOptions = {}): Promise<Visit> {
    const between = await openBetween();
    const watched = await openPage(place.browser, { proxy: { server: between.url }, hasNoMouse: true, ...options });
    const visit = new Visit(place, watched, between);
    place.ends.defer(() => visit.abandon());
    return visit;
  }

  private constructor({ url, material }: VisitedPlace, watched: WatchedPage, between: Between) {
    this.page = watched.page;
    this.keys = new Keyboard(watched.page);
    this.watched = watched;
    this.between = between;
    this.url = url;
    this.#material = material;
  }

  /** Where they are, as it stands in the address. */
  get address(): string {
    const { pathname, search } = new URL(this.page.url());
    return pathname + search;
  }

  /** Until everything was read, and what is shown is of now. */
  async live(): Promise<void> {
    await this.page.locator(".connection", { hasText: "Live" }).waitFor();
  }

  /** To another page, by the navigation. */
  async walk(name: string): Promise<void> {
    await this.keys.tabTo(new RegExp(`^${name}$`), "Shift+Tab");
    await this.keys.press("Enter");
    await this.page.locator('nav a[aria-current="page"]', { hasText: name }).waitFor();
  }

  /** To an address that somebody was given, in the same tab. */
  async open(path: string): Promise<void> {
    await this.page.goto(this.url + path);
    await this.live();
  }

  heading(name: string | RegExp): Promise<void> {
    return this.page.getByRole("heading", { name, exact: true }).first().waitFor();
  }

  /** What they bear, for who takes it and forges requests. */
  async token(): Promise<string> {
    return (await this.page.evaluate(() => sessionStorage.getItem("keyturn-token"))) ?? assert.fail("there is none");
  }

  /** What is on the screen can be used by everybody, and has no key material in it. */
  async look(): Promise<void> {
    assert.deepEqual(await axeFindings(this.page), [], this.address);
    const leaks = await this.#material.leaksIn(await this.page.content());
    assert.deepEqual(leaks, [], `key material was seen at ${this.address}`);
  }

  /** The page has not been loaded anew since `stays` was called. */
  async stays(): Promise<() => Promise<void>> {
    await this.page.evaluate(() => document.body.setAttribute("data-stays", "yes"));
    return async () => assert.equal(await this.page.locator("body[data-stays]").count(), 1, "it was loaded anew");
  }

  async leave(): Promise<void> {
    await this.assertSound();
    await this.abandon();
  }

  /** Without a look back. */
  async abandon(): Promise<void> {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    await this.page.context().close();
    await this.between.close();
  }

  /** Nobody else was asked for anything, by whatever part of the page or of the browser. */
  assertAlone(): void {
    const hosts = [...this.between.hosts].filter((host) => !OF_THE_BROWSER.has(host));
    assert.deepEqual(hosts, [new URL(this.url).host]);
  }

  async assertSound(): Promise<void> {
    // What the page has yet to say of itself comes before its answer to this.
    await this.page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
    assertSound(this.watched, this);
    this.assertAlone();
    const texts = [this.between.answers(), await this.page.content(), ...this.watched.said];
    assert.deepEqual(await this.#material.leaksIn(...texts), [], "key material was seen");
  }
}
