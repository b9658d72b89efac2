import { afterEach } from "vitest";
import { cleanUp } from "./later.ts";

afterEach(cleanUp, 60_000);
