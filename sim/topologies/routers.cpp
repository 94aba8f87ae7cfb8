#include "sim/topologies/routers.hpp"
