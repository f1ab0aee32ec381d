import { DeployError, type DeployRequest, type FieldRefusal } from '../deployer.ts'
import type { KubernetesDeployerOptions } from './options.ts'
import { refusedOf } from './pod-security.ts'
import { readResourceSpec } from './resource-spec.ts'

/** Why a deployment cannot be run on Kubernetes, or undefined. */
export function refusalOf(
  request: DeployRequest,
  options: Pick<KubernetesDeployerOptions, 'namespace' | 'namespaces' | 'allow'>,
): string | readonly FieldRefusal[] | undefined {
  try {
    if (request.source !== 'external_docker')
      throw new DeployError(
        `This control plane runs images: "source" must be "external_docker", with "source_revision_config.image_uri". It cannot build "${request.source}".`,
      )
    imageOf(request)
    namespaceOf(request, options)
    const refused = refusedOf(readResourceSpec(request.sourceConfig.resource_spec), options.allow)
    checkReferences(request)
    return refused.length > 0 ? refused : undefined
  } catch (error) {
    if (error instanceof DeployError) return error.message
    throw error
  }
}

export function imageOf({ sourceRevisionConfig: { image_uri } }: DeployRequest): string {
  // The registry validates the rest.
  if (typeof image_uri !== 'string' || !/^[A-Za-z0-9][\w./:@-]{0,1000}$/.test(image_uri))
    throw new DeployError(
      'source_revision_config.image_uri must name an image, such as "registry.example.com/agents/support:1.4".',
    )
  return image_uri
}

export function namespaceOf(
  { sourceConfig }: Pick<DeployRequest, 'sourceConfig'>,
  { namespace, namespaces = [] }: Pick<KubernetesDeployerOptions, 'namespace' | 'namespaces'>,
): string {
  const named = sourceConfig.listener_config?.k8s_namespace ?? namespace
  if (named !== namespace && !namespaces.includes(named as string))
    throw new DeployError(
      'source_config.listener_config.k8s_namespace must be one of the namespaces that this control plane deploys to.',
    )
  return named as string
}

/** The variable names were validated for every deployer. */
function checkReferences({ secretReferences }: DeployRequest): void {
  const wrong = secretReferences.find(
    ({ secret_name, secret_key }) =>
      !/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(secret_name) ||
      !/^[-._A-Za-z0-9]{1,253}$/.test(secret_key),
  )
  if (wrong)
    throw new DeployError(
      `secret_references must name a Kubernetes Secret and one of its keys, for ${JSON.stringify(wrong.name)}.`,
    )
}
