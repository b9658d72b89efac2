import type { Case } from "../case.ts";
import { destroyedCases } from "./destroyed.ts";
import { gitCases } from "./git.ts";
import { laterCases } from "./later.ts";
import { outsideCases } from "./outside.ts";
import { restCases } from "./rest.ts";
import { secretCases } from "./secrets.ts";

/** The whole corpus. */
export const cases: readonly Case[] = [...outsideCases, ...secretCases, ...laterCases, ...gitCases, ...destroyedCases, ...restCases];
