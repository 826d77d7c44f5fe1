import { BINDY, MANAGED_BY } from "../api/bind/names.ts";

/** What stands on everything that is made for another object. */
export const MADE_BY_US = { [MANAGED_BY]: BINDY } as const;
