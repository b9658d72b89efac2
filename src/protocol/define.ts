/** The words the protocol is written in: `command()`, `event()` and `frame()`. Types, validation, schema and docs derive from the rows. */
import Type, { type Static, type TObject, type TProperties, type TSchema, type TVoid } from "typebox";

/**
 * How a command is scheduled.
 * - `control`: handled the moment it is read, overtakes everything, never answered.
 * - `interrupt`: starts immediately, even while a serial command is pending.
 * - `background`: starts in order, answered when done, does not hold up the commands after it.
 * - `serial`: strictly one after another, in arrival order.
 */
export type Lane = "control" | "interrupt" | "background" | "serial";

/**
 * Who may send a command where several connections share a session.
 * - `read`: any of them; it changes nothing.
 * - `interject`: any that may drive, while another one holds the seat: to stop, to nudge, to approve.
 * - `seat`: the one that holds the seat.
 */
export type Access = "read" | "interject" | "seat";

export interface CommandRow<P extends TProperties = TProperties, R extends TSchema = TSchema> {
	doc: string;
	lane: Lane;
	access: Access;
	params: P;
	result: R;
	/** What a host sends in addition to `id` and `type`, and the data of the answer. The protocol page shows it; a test checks it. */
	example: { readonly send: object; readonly data?: unknown };
	/** A command of a newer dialect that Bowline names but does not serve: it answers `<command> is not supported`. */
	unsupported?: true;
}

/** The same with types: a success without data has none here either. */
interface CommandExample<P extends TProperties, R extends TSchema> {
	send: Static<TObject<P>>;
	data: Static<R>;
}
type NamedExample<P extends TProperties, R extends TSchema> = R extends TVoid ? Pick<CommandExample<P, R>, "send"> : CommandExample<P, R>;

export function command<P extends TProperties, R extends TSchema>(
	row: Omit<CommandRow<P, R>, "example"> & { example: NamedExample<P, R> },
): CommandRow<P, R> {
	return row;
}

export interface EventRow<P extends TProperties = TProperties> {
	doc: string;
	fields: P;
	/** The members of one such event. The protocol page shows it; a test checks it. */
	example: object;
}

export function event<P extends TProperties>(doc: string, fields: P, example: Static<TObject<P>>): EventRow<P> {
	return { doc, fields, example };
}

/** A shape with a name of its own: it becomes a definition in the JSON Schema and a section in the docs. */
export function shape<P extends TProperties>(title: string, description: string, properties: P): TObject<P> {
	return Type.Object(properties, { title, description });
}

/** A frame of a conversation between the agent and the host, which is neither a command nor an event. */
export function frame<const T extends string, P extends TProperties>(
	type: T,
	names: { title: string; description: string },
	fields: P,
	...examples: readonly [Static<TObject<P>>, ...Static<TObject<P>>[]]
) {
	return Type.Object({ type: Type.Literal(type), ...fields }, { ...names, examples: examples.map((example) => ({ type, ...example })) });
}

/** One of a few words. */
export function words<const T extends readonly string[]>(...values: T) {
	return Type.Unsafe<T[number]>({ enum: values });
}

/** An open JSON object. */
export const jsonObject = Type.Record(Type.String(), Type.Unknown());

export const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
export const optional = Type.Optional;
export const list = Type.Array;
export const text = Type.String;
export const integer = Type.Integer;
export const number = Type.Number;
export const flag = Type.Boolean;

/** Data that a success may lack. */
export const orNothing = <T extends TSchema>(schema: T) => Type.Unsafe<Static<T> | undefined>(schema);

/** The result of a command that is answered by a bare success. */
export const ack = Type.Void();

export type Params<Row> = Row extends { params: infer P extends TProperties } ? Static<TObject<P>> : never;
export type Result<Row> = Row extends { result: infer R extends TSchema } ? Static<R> : never;
export type Fields<Row> = Row extends { fields: infer P extends TProperties } ? Static<TObject<P>> : never;
