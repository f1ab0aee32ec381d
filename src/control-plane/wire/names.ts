/** A wire name in camelCase: `client_id` becomes `clientId`. */
export type Camel<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name

/** A body's members in camelCase. */
export type Given<Body> = {
  readonly [Name in keyof Body as Camel<Name>]: Exclude<Body[Name], null | undefined>
}

export const camel = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** A Pydantic API treats null as omitted. */
export const given = <Body extends object>(body: Body): Given<Body> =>
  Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => (value == null ? [] : [[camel(name), value]])),
  ) as Given<Body>
