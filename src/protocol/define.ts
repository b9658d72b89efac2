/** The two words the protocol is written in: `command()` and `event()`. Types, validation, schema and docs derive from the rows. */
import Type, { type Static, type TObject, type TProperties, type TSchema } from "typebox";

/**
 * How a command is scheduled.
 * - `control`: handled the moment it is read, overtakes everything, never answered.
 * - `interrupt`: starts immediately, even while a serial command is pending.
 * - `background`: starts in order, answered when done, does not hold up the commands after it.
 * - `serial`: strictly one after another, in arrival order.
 */
export type Lane = "control" | "interrupt" | "background" | "serial";

export interface CommandRow<P extends TProperties = TProperties, R extends TSchema = TSchema> {
	doc: string;
	lane: Lane;
	params: P;
	result: R;
	/** A command of a newer dialect that Bowline names but does not serve: it answers `<command> is not supported`. */
	unsupported?: true;
}

export function command<P extends TProperties, R extends TSchema>(row: CommandRow<P, R>): CommandRow<P, R> {
	return row;
}

export interface EventRow<P extends TProperties = TProperties> {
	doc: string;
	fields: P;
}

export function event<P extends TProperties>(doc: string, fields: P): EventRow<P> {
	return { doc, fields };
}

/** A shape with a name of its own: it becomes a definition in the JSON Schema and a section in the docs. */
export function shape<P extends TProperties>(title: string, description: string, properties: P): TObject<P> {
	return Type.Object(properties, { title, description });
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

export type Params<Row> = Row extends CommandRow<infer P, TSchema> ? Static<TObject<P>> : never;
export type Result<Row> = Row extends CommandRow<TProperties, infer R> ? Static<R> : never;
export type Fields<Row> = Row extends EventRow<infer P> ? Static<TObject<P>> : never;
