/** Scripts that come with the product, by name. */
import type { Script } from "../format.ts";
import { demo } from "./demo.ts";
import { echo } from "./echo.ts";

export const builtInScripts: Record<string, Script> = { demo, echo };
