/** The codes as a shape on the wire. Apart from their rows, which programs read without the schema library. */
import Type from "typebox";
import { type ErrorCode as Code, errorCodes } from "./errors.ts";

export const ErrorCode = Type.Unsafe<Code>({
	title: "ErrorCode",
	description:
		"Why something failed, as a word for programs; [each code](errors.md) says what to do. Later versions may have more: keep a default. Dialects `pi` and `omp` give those that their hosts know, `strict` none.",
	enum: errorCodes,
});
