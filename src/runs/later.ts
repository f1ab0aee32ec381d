import { lazy } from '../lazy.ts'

/** The same function, but asynchronous. */
type Later<Method> = Method extends (...asked: infer Asked) => infer Result
  ? (...asked: Asked) => Promise<Awaited<Result>>
  : never

/** Loads a function's module on the first call, for functions that few servers call, or rarely. */
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
