/** What keeps the site from being built, in a line that names the page. */
export class SiteError extends Error {}
