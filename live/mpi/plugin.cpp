// The plugin: MessagePassing over MPI. The only source that sees mpi.h.
#include <mpi.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "live/mpi/message_passing.hpp"

#include "sim/core/at.hpp"

namespace debubble::live {

namespace {

// "Open MPI 4.1.4" of "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, ..."; "MPICH 4.0.2" of
// "MPICH Version:\t4.0.2\n...".
std::string mpi_name(const std::string& text) {
  std::string name = text.substr(0, text.find_first_of(",\n"));
  for (const std::string removed : {" Version:\t", " Version: ", " v"}) {
    const std::size_t at = name.find(removed);
    if (at != std::string::npos) return name.replace(at, removed.size(), " ");
  }
  return name;
}

class OverMpi final : public MessagePassing {
 public:
  OverMpi() {
    // Ranks that wait inside MPI let others have the core: there may be more ranks than cores. The user's word counts.
    ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);  // NOLINT(concurrency-mt-unsafe): before any thread of ours
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm everybody = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &everybody);
    edges_.push_back({everybody, -1});
    MPI_Type_contiguous(static_cast<int>(kBlock), MPI_BYTE, &block_);
    MPI_Type_commit(&block_);
    read_names();
    find_rank_on_host();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int rank_on_host() const override { return rank_on_host_; }
  int ranks_on_host() const override { return ranks_on_host_; }
  const char* host() const override { return host_.c_str(); }
  const char* library() const override { return library_.c_str(); }

  int open_edge(int from, int to) override {
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Group pair = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    const int ranks[] = {from, to};
    MPI_Group_incl(world, 2, ranks, &pair);
    MPI_Comm edge = MPI_COMM_NULL;
    MPI_Comm_create_group(MPI_COMM_WORLD, pair, 0, &edge);
    MPI_Group_free(&pair);
    MPI_Group_free(&world);
    edges_.push_back({edge, from});
    return static_cast<int>(edges_.size()) - 1;
  }

  Request send(int edge, int to, const std::byte* data, std::size_t bytes) override {
    const int target = edge == kAllRanks ? to : 1;  // on an edge the receiver comes after the sender
    Request request = free_request();
    MPI_Isend(data, static_cast<int>(bytes / kBlock), block_, target, 0, communicator(edge), &at(request));
    return request;
  }

  std::int64_t arrived(int edge, int& from) override {
    int flag = 0;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator(edge), &flag, &seen_, &status);
    if (flag == 0) return -1;
    int blocks = 0;
    MPI_Get_count(&status, block_, &blocks);
    from = edge == kAllRanks ? status.MPI_SOURCE : edges_[to_index(edge)].from;
    return static_cast<std::int64_t>(blocks) * static_cast<std::int64_t>(kBlock);
  }

  Request receive(std::byte* data, std::size_t bytes) override {
    Request request = free_request();
    MPI_Imrecv(data, static_cast<int>(bytes / kBlock), block_, &seen_, &at(request));
    return request;
  }

  bool done(Request request) override {
    int flag = 0;
    MPI_Test(&at(request), &flag, MPI_STATUS_IGNORE);
    if (flag != 0) free_.push_back(request);
    return flag != 0;
  }

  Request start_barrier() override {
    Request request = free_request();
    MPI_Ibarrier(communicator(kAllRanks), &at(request));
    return request;
  }

  void finish() override { MPI_Finalize(); }
  void abort() override { MPI_Abort(MPI_COMM_WORLD, 1); }

 private:
  struct Edge {
    MPI_Comm communicator = MPI_COMM_NULL;
    int from = -1;
  };

  MPI_Comm communicator(int edge) const { return edges_[to_index(edge)].communicator; }
  MPI_Request& at(Request request) { return requests_[to_index(request)]; }

  Request free_request() {
    if (free_.empty()) {
      requests_.push_back(MPI_REQUEST_NULL);
      return static_cast<Request>(requests_.size()) - 1;
    }
    const Request request = free_.back();
    free_.pop_back();
    return request;
  }

  void read_names() {
    std::string name(MPI_MAX_PROCESSOR_NAME, '\0');
    int length = 0;
    MPI_Get_processor_name(name.data(), &length);
    host_ = name.substr(0, static_cast<std::size_t>(length));
    std::string version(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
    MPI_Get_library_version(version.data(), &length);
    library_ = mpi_name(version.substr(0, static_cast<std::size_t>(length)));
  }

  void find_rank_on_host() {
    MPI_Comm neighbours = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &neighbours);
    MPI_Comm_rank(neighbours, &rank_on_host_);
    MPI_Comm_size(neighbours, &ranks_on_host_);
    MPI_Comm_free(&neighbours);
  }

  int rank_ = 0;
  int size_ = 1;
  int rank_on_host_ = 0;
  int ranks_on_host_ = 1;
  std::string host_;
  std::string library_;
  MPI_Datatype block_ = MPI_DATATYPE_NULL;
  MPI_Message seen_ = MPI_MESSAGE_NULL;
  std::vector<Edge> edges_;
  std::vector<MPI_Request> requests_;
  std::vector<Request> free_;
};

// One per process, as MPI is; never destroyed.
MessagePassing* start() {
  static auto* const one = new OverMpi;  // NOLINT(cppcoreguidelines-owning-memory)
  return one;
}

}  // namespace

}  // namespace debubble::live

extern "C" __attribute__((visibility("default")))
const debubble::live::MessagePassingPlugin debubble_message_passing = {
    debubble::live::MessagePassing::kInterfaceVersion, debubble::live::start};
