/** A name of the wire in the case of the code: `client_id` is `clientId`. */
export type Camel<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name

/** The members of a body in the case of the code. */
export type Given<Body> = {
  readonly [Name in keyof Body as Camel<Name>]: Exclude<Body[Name], null | undefined>
}

export const camel = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** An API of Pydantic takes null for a value that is not given. */
export const given = <Body extends object>(body: Body): Given<Body> =>
  Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => (value == null ? [] : [[camel(name), value]])),
  ) as Given<Body>
