// The second shared object of nvtx_program: a domain with a registered string.
#include <nvtx3/nvToolsExt.h>

extern "C" [[gnu::visibility("default")]] void inside_plugin() {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("plugin");
  static const nvtxStringHandle_t text = nvtxDomainRegisterStringA(domain, "plugin, registered");
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = text;
  nvtxDomainRangePushEx(domain, &attributes);
  nvtxRangePushA("plugin, default domain");
  nvtxRangePop();
  nvtxDomainRangePop(domain);
}
