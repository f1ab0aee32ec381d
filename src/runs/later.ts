import { lazy } from '../lazy.ts'

/** The same function, which settles later. */
type Later<Method> = Method extends (...asked: infer Asked) => infer Result
  ? (...asked: Asked) => Promise<Awaited<Result>>
  : never

/** A function of a module that few servers call, or seldom: the module is loaded with the first call. */
export function later<Module, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
): Later<Module[Name]> {
  const loaded = lazy(load)
  const call = async (...asked: never[]): Promise<unknown> => {
    const method = (await loaded())[name] as (...asked: never[]) => unknown
    return method(...asked)
  }
  return call as Later<Module[Name]>
}
