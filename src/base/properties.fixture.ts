import fc from "fast-check";

/**
 * Properties are tried with the same values in every run, so that a change is judged by what it changes. Other values:
 * `KEYTURN_SEED=random npm test`, or the number that a failure names.
 */
const { KEYTURN_SEED: wish = "1" } = process.env;
if (wish !== "random") fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(wish) });

export { fc };
