import { lazy } from '../lazy.ts'

/** The same function, but asynchronous. */
type Later<Method> = Method extends (...args: infer Args) => infer Result
  ? (...args: Args) => Promise<Awaited<Result>>
  : never

/** Loads a function's module on the first call, for functions that few servers call, or rarely. */
export function later<Module, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
): Later<Module[Name]> {
  const loaded = lazy(load)
  const call = async (...args: never[]): Promise<unknown> => {
    const method = (await loaded())[name] as (...args: never[]) => unknown
    return method(...args)
  }
  return call as Later<Module[Name]>
}
